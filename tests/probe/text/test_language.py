"""Which texts are in another language beyond doubt: none in English, most in others."""

from probe.text.language import BEYOND_DOUBT, IN_DOUBT, other_language
from tests.support.cases import each

ENGLISH = """
No.
A man walks.
Dogs bark
me want go shop yesterday him
the sleeps dog ran quickly because of
Kowalski, Nguyen and García met Müller in Zürich.
He ordered sushi, ramen and karaoke at the café.
BREAKING: MARKETS FALL AFTER VOTE
teh mna wlaks ot hte sotre
Aku Ankka is a comic.
qwpx zvbn ghjk wqrt plmk
12 + 30 = 42
👍🏽 ok
"""
OTHERS = {
    "German": "Der Zug fährt heute nicht, weil es schneit.",
    "French": "Le train ne roule pas aujourd'hui à cause de la neige.",
    "Spanish": "El tren no sale hoy porque está nevando mucho.",
    "Dutch": "De trein rijdt vandaag niet, want het sneeuwt.",
    "Finnish": "Juna ei kulje tänään, koska sataa lunta.",
    "Turkish": "Tren bugün kar yağdığı için çalışmıyor.",
    "Chinese": "今天下雪，火车不开。",
    "Japanese": "今日は雪なので電車が動きません。",
    "Thai": "วันนี้รถไฟไม่วิ่งเพราะหิมะตก",
    "Hindi": "आज बर्फ गिर रही है इसलिए ट्रेन नहीं चलेगी।",
    "Russian": "Сегодня поезд не ходит из-за снега.",
}


@each("text", ENGLISH.strip().splitlines())
def test_english_is_never_taken_for_another_language(text: str) -> None:
    assert other_language(text) == ""


@each("language", OTHERS)
def test_another_language_is_named(language: str) -> None:
    assert other_language(OTHERS[language]) == language


def test_a_short_text_is_in_doubt_unless_its_file_is_not() -> None:
    assert other_language("Ja, gern.", BEYOND_DOUBT) == ""
    assert other_language("Ja, gern.", IN_DOUBT) != ""
    assert other_language("A man is walking with his dog.", IN_DOUBT) == ""
