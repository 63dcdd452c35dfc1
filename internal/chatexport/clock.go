package chatexport

import (
	"strings"
	"unicode"
)

// half is the part of the day that a time names.
type half int8

const (
	whole half = iota
	am
	pm
	noon // 11 and 12 are before it
)

// halves are the words for the halves of the day in all languages of the apps, without
// spaces, dots and quotation marks.
var halves = func() map[string]half {
	words := map[half]string{
		am: `am a vorm dop ap fm fh ei rn yb de öö pd paradite eparadites sa pg to vm pagi madrugada mañana manhã damanhã
			matin mattina priešpiet priekšp asubuhi inthemorning avant πμ проб претпл претпладне
			преподне дп до дополудня ԿԱ կա ص صباحا صباحًا قظ قبلازظهر قبلدوپہر לפנהצ בבוקר
			पूर्वाह्न पूर्वान्ह मपू সকাল পূর্বাহ্ন পূৰ্বাহ্ন ਪੂਦੁ પૂર્વાહ્ન முற்பகல் ಪೂರ್ವಾಹ್ನ പൂർവ്വാഹ്നം පෙව
			ก่อนเที่ยง ກ່ອນທ່ຽງ နံနက် ព្រឹក ጥዋት ጠዋት
			오전 午前 上午 凌晨 清晨 早上 早晨 午夜 半夜`,
		pm: `pm p nachm odp ip em eh ev in yh du ös md pasdite epasdites ch ptg tk nm petang tarde datarde noche noite danoite
			soir sera popiet pēcp jioni mchana intheafternoon après μμ слоб следобед попл попладне
			поподне пп пополудні ԿՀ կհ م مساء مساءً بظ بعدازظهر بعددوپہر אחהצ בערב
			अपराह्न अपरान्ह मउ বিকাল অপরাহ্ন অপৰাহ্ন ਬਾਦੁ અપરાહ્ન பிற்பகல் ಅಪರಾಹ್ನ അപരാഹ്നം පව
			หลังเที่ยง ຫຼັງທ່ຽງ ညနေ ល្ងាច ከሰዓት ከሰዓትበኋላ
			오후 午後 下午 傍晚 晚上 夜晚 夜間`,
		noon: `中午 正午 noon mediodía delmediodía`,
	}
	all := make(map[string]half)
	for half, list := range words {
		for word := range strings.FieldsSeq(list) {
			all[strings.ToLower(word)] = half
		}
	}
	return all
}()

// fillers are words beside a time that say nothing of it.
var fillers = func() map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(`um à at às alle om kl klo la ob o в у об óra godz uhr г р год ad ce be พศ คศ น ngày lúc jam pukul 日 일 秒 초 分 분`) {
		all[word] = true
	}
	return all
}()

// halfOf returns the half of the day that words beside a time name, and otherwise the words,
// unless they mean nothing.
func halfOf(words string) (half, string) {
	tokens := strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return r == ' ' || strings.ContainsRune(",،、;()", r) })
	kept := make([]string, 0, len(tokens))
	for _, token := range tokens {
		if token = onlyLetters(token); token != "" && !fillers[token] {
			kept = append(kept, token)
		}
	}
	if len(kept) == 0 {
		return whole, ""
	}
	if h, known := halves[strings.Join(kept, "")]; known {
		return h, ""
	}
	for _, token := range kept {
		if h, known := halves[token]; known {
			return h, ""
		}
	}
	return whole, strings.Join(kept, " ")
}

func onlyLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, s)
}

// on24 returns an hour of the day by its half.
func (h half) on24(hour int) int {
	switch {
	case hour == 24, h == am && hour == 12:
		return 0
	case h == pm && hour < 12, h == noon && hour < 10:
		return hour + 12
	}
	return hour
}
