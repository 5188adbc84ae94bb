#!/bin/sh
# Build the environment: environment.sh FOLDER. Uses $PYTHON, or the first Python of at least 3.11 it finds.
# What is installed, and its hashes, stands in requirements.lock alone; from where, in pip's own configuration.
set -eu
folder=$1

suitable() {
    command -v "$1" >/dev/null 2>&1 && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

chosen=
for candidate in "${PYTHON:-python3}" python3.13 python3.12 python3.11 python3; do
    if suitable "$candidate"; then chosen=$candidate; break; fi
done
if [ -z "$chosen" ]; then
    echo "Discreet needs Python 3.11 or newer, and none was found. Next: install one, or name it with make PYTHON=..." >&2
    exit 2
fi

# Debian's Python may lack ensurepip: then the pip beside it fills the new environment.
if ! "$chosen" -m venv --clear "$folder" >/dev/null 2>&1; then
    if ! "$chosen" -m venv --clear --without-pip "$folder" >/dev/null 2>&1; then
        echo "$chosen cannot make a virtual environment. Next: install its venv module (Debian: apt install python3-venv)" >&2
        exit 2
    fi
fi
if "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    pip() { "$folder/bin/python" -m pip "$@"; }
elif "$chosen" -m pip --version >/dev/null 2>&1; then
    pip() { "$chosen" -m pip --python "$folder/bin/python" "$@"; }
else
    echo "$chosen has neither ensurepip nor pip. Next: install them (Debian: apt install python3-venv python3-pip)" >&2
    exit 2
fi

# What is imported is compiled then; compiling all of it here would take longer than fetching it.
install_by_pip() {
    pip install --quiet --disable-pip-version-check --no-compile "$@"
}

# One of pip's settings, from its variables before its files; the first argument is its name.
setting() {
    for part in :env: install global; do
        said=$(printf '%s\n' "$told" | sed -n "s/^$part\.$1=['\"]\(.*\)['\"]\$/\1/p" | sed 's/\\n/ /g')
        if [ -n "$said" ]; then echo "$said"; return; fi
    done
}

# uv installs the same files in a tenth of the time. It is fetched by pip, by the hash in the lock, and told what pip
# was told of indexes, certificates and proxies.
install_by_uv() {
    sed -n '/^uv==/,/[^\\]$/p' requirements.lock > "$folder/uv.lock"
    [ -s "$folder/uv.lock" ] || return 1
    install_by_pip --no-deps --require-hashes --requirement "$folder/uv.lock" >/dev/null 2>&1 || return 1
    told=$(pip config list 2>/dev/null) || told=
    set -- --index-strategy unsafe-best-match
    for url in $(setting index-url); do set -- "$@" --default-index "$url"; done
    for url in $(setting extra-index-url); do set -- "$@" --index "$url"; done
    for host in $(setting trusted-host); do set -- "$@" --allow-insecure-host "$host"; done
    for place in $(setting find-links); do
        case $place in
            *://*) set -- "$@" --find-links "$place" ;;
            *) if [ -e "$place" ]; then set -- "$@" --find-links "$place"; fi ;;
        esac
    done
    case $(setting no-index) in 1 | [Tt]rue | yes | on) set -- "$@" --no-index ;; esac
    for file in $(setting cert); do SSL_CERT_FILE=$file; export SSL_CERT_FILE; done
    for proxy in $(setting proxy); do ALL_PROXY=$proxy; export ALL_PROXY; done
    "$folder/bin/uv" pip install --quiet --python "$folder/bin/python" "$@" \
        --require-hashes --requirement requirements.lock || return 1
}

echo "Setting up in $folder with $("$chosen" --version) ..." >&2
if ! install_by_uv; then
    echo "uv is not to be had or did not get through; pip does it, which takes some minutes ..." >&2
    install_by_pip --require-hashes --requirement requirements.lock
fi
install_by_pip --no-deps --no-build-isolation --editable .
