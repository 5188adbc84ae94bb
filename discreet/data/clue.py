"""What a column's name gives away, in several European languages.

A clue is a hint for a draft that a person corrects; it claims nothing. A name is cut into lower-case words without
accents, Greek in Latin letters. `zipCode`, `ZIP_CODE` and `zip code` are the same two words, which are also looked up
joined, as `zipcode`.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from enum import Enum, auto

__all__ = ["Clue", "clues"]

_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_SMALL = dict(zip("αβγδεζηικλμνξοπρσςτυφω", "avgdeziiklmnxoprsstyfo", strict=True)) | {"θ": "th", "χ": "ch", "ψ": "ps"}
_GREEK = str.maketrans(_SMALL | {greek.upper(): latin.capitalize() for greek, latin in _SMALL.items()})
_NUMBERED = re.compile(r"(.*?)\d+")


class Clue(Enum):
    """What a name may be the name of."""

    PERSON_NAME = auto()
    CONTACT = auto()
    NATIONAL_NUMBER = auto()
    ADDRESS = auto()
    COORDINATE = auto()
    PERSON = auto()
    RECORD = auto()
    HOUSEHOLD = auto()
    WEIGHT = auto()
    STRATUM = auto()
    CLUSTER = auto()
    QUASI = auto()
    SENSITIVE = auto()


_WORDS: dict[Clue, str] = {
    Clue.PERSON_NAME: """name fullname firstname lastname surname forename givenname familyname maidenname nom prenom
        nombre apellido apellidos cognome nome vorname nachname familienname naam achternaam voornaam onoma eponymo
        onomateponymo imie nazwisko fornamn efternamn fornavn etternavn efternavn etunimi sukunimi""",
    Clue.CONTACT: """email mail emailaddress courriel correo phone phonenumber tel telephone telefon telefono telefone
        telefoon telefonnummer mobile mobil handy gsm cellphone fax tilefono kinito puhelin url homepage iban ip
        ipaddress""",
    Clue.NATIONAL_NUMBER: """ssn nin nino nhs nhsnumber bsn nir insee dni nie nif pesel cpr cprnummer amka afm hetu cnp
        passport passeport reisepass pasaporte personnummer personnumber nationalid steuerid codicefiscale
        rijksregisternummer ahv svnr sozialversicherungsnummer taxid""",
    Clue.ADDRESS: """address addr street streetaddress adresse anschrift strasse hausnummer rue calle direccion
        indirizzo straat adres dieythynsi odos ulica adress gata osoite morada""",
    Clue.COORDINATE: """lat lon lng latitude longitude coordinates coord gps geo easting northing breitengrad
        laengengrad latitud longitud latitudine longitudine breedtegraad lengtegraad""",
    Clue.PERSON: """patient patientid person personid pid pidp user userid customer customerid client clientid member
        memberid subject subjectid respondent respondentid participant participantid individual kunde kundennummer
        klant paciente paziente asthenis employee employeeid pupil student studentid schueler versicherter""",
    Clue.RECORD: "id uuid guid identifier key nr no num number record recordid rowid serial serialno idx index caseid",
    Clue.HOUSEHOLD: """household householdid hh hhid hid haushalt haushaltsnummer menage hogar famiglia huishouden
        noikokyrio hushall gospodarstwo familyid""",
    Clue.WEIGHT: """wt wgt wgtp pwgt pwgtp fnlwgt finalweight sampleweight samplingweight surveyweight personweight
        designweight wtfinl perwt hhwt hochrechnungsfaktor gewichtung ponderation ponderacion ponderazione
        weegfactor stathmisi""",
    Clue.STRATUM: "strata stratum strate schicht estrato strato stroma",
    Clue.CLUSTER: "psu cluster klumpen grappe conglomerado grappolo primarysamplingunit",
    Clue.QUASI: """age agep alter edad eta leeftijd ilikia wiek alder idade sex gender geschlecht sexe sexo sesso
        geslacht fylo plec kon dob birth birthdate dateofbirth birthyear geburtsdatum geburtsjahr naissance nacimiento
        nascita geboortedatum zip zipcode postcode postalcode plz codepostal cap cp municipality gemeinde commune
        municipio comune gemeente dimos puma county kreis region state country nationality nationalitaet nationalite
        citizenship nativecountry race rac1p ethnicity hisp marital maritalstatus msp civilstatus familienstand
        education educ edu education_num bildung diplome schl occupation beruf profession profesion workclass religion
        relationship""",
    Clue.SENSITIVE: """income salary wage wages earnings einkommen gehalt lohn revenu salaire ingreso ingresos reddito
        stipendio inkomen loon eisodima pincp wealth debt diagnosis diagnose diagnostic diagnostico icd icd10 disease
        illness krankheit maladie enfermedad malattia ziekte disability behinderung handicap hiv drugs drug cheated
        religion party partei orientation conviction offence""",
}
_BY_WORD = {clue: frozenset(words.split()) for clue, words in _WORDS.items()}


def clues(name: str) -> frozenset[Clue]:
    """Everything a column's name hints at."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    plain = bare.translate(_GREEK)
    words = [word.casefold() for word in _WORD.findall(_BREAK.sub(" ", plain))]
    words += [numbered[1] for word in words if (numbered := _NUMBERED.fullmatch(word)) and numbered[1]]
    pairs = [first + second for first, second in itertools.pairwise(words)]
    found = {*words, *pairs, "".join(words)}
    return frozenset(clue for clue, known in _BY_WORD.items() if found & known)
