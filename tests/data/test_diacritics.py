from nat.data.diacritics import diacritics


def test_cedilla_becomes_comma() -> None:
    assert diacritics("normalise")("Ştiinţă, țări şi Ţară") == "Știință, țări și Țară"


def test_bare_letters() -> None:
    remove = diacritics("remove")
    assert remove("Știință şi țărâna Îngheţată ÂŢĂ") == "Stiinta si tarana Inghetata ATA"
    assert remove("s\u0326i a\u0306 t\u0327") == "si a t"
    assert remove("Müller, façade, é") == "Müller, façade, é"
