package folding_test

import (
	"testing"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/folding"
)

func TestFoldStripped_DropsAccentsWhereTheyMakeNoLetter(t *testing.T) {
	for name, want := range map[string]string{
		"Sofía Ramírez": "sofia ramirez", "SOFI\u0301A": "sofia", "Zoë Ångström": "zoe angstrom", "Nguyễn Thị Ánh": "nguyen thi anh",
		"Đặng": "đang", "Łukasz Żółć": "łukasz zołc", "İPEK Çelik": "ipek celik", "Straße": "strasse", "Ñandú": "nandu",
		"Ἀθηνᾶ Ἑλένη": "αθηνα ελενη", "Ὀδυσσεύς": "οδυσσευσ", "Алёна Йод": "алена иод", "Київ": "киів",
		"שָׁלוֹם": "שלום", "مُحَمَّد أحمد": "محمد احمد", "آمنة": "امنة", "مـُحـَمـَّد": "مـحـمـد",
		"がぎ ぱ": "がぎ ぱ", "한글": "한글", "नमस्ते हिन्दी": "नमस्ते हिन्दी", "สวัสดี": "สวัสดี", "தமிழ்": "தமிழ்", "ཨོཾ": "ཨོཾ",
		"": "", "plain": "plain", "\u0301": "\u0301", "7\u0301": "7\u0301", "👩\u200d👧": "👩\u200d👧", "\xff\u00e9": "\ufffde",
	} {
		if got := folding.FoldStripped(name); got != want {
			t.Errorf("%s folds to %q, want %q", name, got, want)
		}
		for _, spelling := range []string{norm.NFD.String(name), norm.NFC.String(name), folding.FoldStripped(name), folding.Fold(name)} {
			if got := folding.FoldStripped(spelling); got != want {
				t.Errorf("%q, another spelling of %s, folds to %q", spelling, name, got)
			}
		}
	}
}
