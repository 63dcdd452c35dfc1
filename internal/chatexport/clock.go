package chatexport

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// marker is the AM/PM marker of a time, or a word with a similar meaning.
type marker int8

const (
	none marker = iota
	am
	pm
	noon  // 11 and 12 o'clock are in the morning
	night // from the evening to the morning
)

// markers returns the words for the markers of the day in all languages of the apps, without
// spaces, dots and quotation marks.
var markers = sync.OnceValue(func() map[string]marker {
	words := map[marker]string{
		am: `am a vorm dop ap fm fh ei rn yb de öö pd paradite eparadites sa pg to vm pagi madrugada mañana manhã damanhã
			matin mattina priešpiet priekšp asubuhi inthemorning avant πμ проб претпл претпладне
			преподне дп до дополудня ԿԱ կա ص صباحا صباحًا قظ قبلازظهر قبلدوپہر לפנהצ בבוקר
			पूर्वाह्न पूर्वान्ह मपू সকাল পূর্বাহ্ন পূৰ্বাহ্ন ਪੂਦੁ પૂર્વાહ્ન முற்பகல் ಪೂರ್ವಾಹ್ನ പൂർവ്വാഹ്നം පෙව
			ก่อนเที่ยง ກ່ອນທ່ຽງ နံနက် ព្រឹក ጥዋት ጠዋት
			dopoldne dopoludnia prijepodne prepodne غم тң таңкы үө gh sf goöň sáng ভোর सुबह 새벽 아침
			오전 午前 上午 凌晨 清晨 早上 早晨 午夜 半夜`,
		pm: `pm p nachm odp ip em eh ev in yh du ös md pasdite epasdites ch ptg tk nm petang tarde datarde
			soir sera popiet pēcp jioni mchana intheafternoon après μμ слоб следобед попл попладне
			поподне пп пополудні ԿՀ կհ م مساء مساءً بظ بعدازظهر بعددوپہر אחהצ בערב
			अपराह्न अपरान्ह मउ বিকাল অপরাহ্ন অপৰাহ্ন ਬਾਦੁ અપરાહ્ન பிற்பகல் ಅಪರಾಹ್ನ അപരാഹ്നം පව
			หลังเที่ยง ຫຼັງທ່ຽງ ညနေ ល្ងាច ከሰዓት ከሰዓትበኋላ
			pop popoldne popoludní popoludni popodne poslijepodne غو тк түштөнкийинки үх gd ym gosoň chiều সন্ধ্যা शाम 저녁
			오후 午後 下午 傍晚`,
		noon:  `中午 正午 noon mediodía delmediodía 낮 দুপুর दोपहर trưa`,
		night: `noche noite danoite đêm রাত रात 밤 晚上 夜晚 夜間 深夜`,
	}
	all := make(map[string]marker)
	for marker, list := range words {
		for word := range strings.FieldsSeq(list) {
			all[strings.ToLower(word)] = marker
		}
	}
	return all
})

// fillers returns words next to a time without a meaning of their own.
var fillers = sync.OnceValue(func() map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(`um à at às ás las les alle ore om kl klo kell plkst la ob o u v në в у об ч óra ora orë saat soat сағат ժ ժամը στις godz uhr г р год ad ce be พศ คศ น ngày lúc jam pukul 日 일 秒 초 分 분 h min sec sek s`) {
		all[word] = true
	}
	return all
})

// markerOf returns the AM/PM marker in the words before and after a time, or else the words, unless they
// are fillers. The last word decides: in "9:05 de la noche" it is "noche".
func markerOf(before, behind string) (marker, string) {
	words := append(slices.DeleteFunc(wordsOf(before), func(word string) bool { return word == "a" }), wordsOf(behind)...) // a las 9:05
	for end := len(words); end > 0 && len(words) <= maxClockWords; end-- {
		for start := range end {
			if h, known := markers()[strings.Join(words[start:end], "")]; known {
				return h, ""
			}
		}
	}
	return none, strings.Join(words, " ")
}

// maxClockWords bounds the words next to a time.
const maxClockWords = 8

// wordsOf returns the words of a text that may have a meaning, in letters alone.
func wordsOf(text string) (words []string) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r == ' ' || strings.ContainsRune(",،、;()", r) }) {
		if word = onlyLetters(word); word != "" && !fillers()[word] {
			words = append(words, word)
		}
	}
	return words
}

func onlyLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, s)
}

// on24 returns an hour on the 24-hour clock.
func (h marker) on24(hour int) int {
	switch {
	case hour == 24, (h == am || h == night) && hour == 12:
		return 0
	case h == pm && hour < 12, h == noon && hour < 10, h == night && hour >= 6 && hour < 12:
		return hour + 12
	}
	return hour
}

// wordCounts counts the unknown words next to times.
type wordCounts []wordCount

// wordCount counts the times with an unknown word.
type wordCount struct {
	word  string
	times int
	on24  bool // some are of a clock of 24 hours
}

const maxCounted = 8 // words

// add reads the words next to a time.
func (s *wordCounts) add(h prefix) {
	if h.word == "" {
		return
	}
	i := slices.IndexFunc(*s, func(w wordCount) bool { return w.word == h.word })
	switch {
	case i < 0 && len(*s) == maxCounted:
		return
	case i < 0:
		i = len(*s)
		*s = append(*s, wordCount{word: h.word})
	}
	w := &(*s)[i]
	w.times++
	w.on24 = w.on24 || h.hour > 12 || h.hour == 0
}

// ordinary returns the words that are no AM/PM markers, because they are next to times of a clock of
// 24 hours. If other unknown words are next to more than a quarter of the times, the error is of
// [bridge.CodeUnknownDates].
func (s *wordCounts) ordinary(times int) (map[string]bool, error) {
	found := make(map[string]bool)
	var open []string
	without := 0
	for _, w := range *s {
		if w.on24 {
			found[w.word] = true
			continue
		}
		open = append(open, w.word)
		without += w.times
	}
	if 4*without > times {
		return nil, unreadable("the meaning of “"+strings.Join(open, "” and “")+"” next to its times is not known", "the 24-hour clock")
	}
	return found, nil
}

// warnWord warns that the word next to a message's time is unknown.
func (r *reader) warnWord(number int) {
	if r.word != "" && !r.f.ordinary[r.word] {
		r.warn(line{number: number, text: r.begin}, "the word next to its time is unknown: the time may be 12 hours off")
	}
}
