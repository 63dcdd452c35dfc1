package chatexport

import (
	"slices"
	"strings"
	"testing"
)

// TestMessages_OfChatsWithAColon in their names, which the notice at the beginning tells.
func TestMessages_OfChatsWithAColon(t *testing.T) {
	for name, test := range map[string]struct {
		export   []byte
		said     []string
		doubtful []int
	}{
		"a group": {
			phone("# Fam: 2024 🏡: "+lrm+"Messages and calls are end-to-end encrypted.", "# Fam: 2024 🏡: "+lrm+"Ana added you", "# Ana: hi"),
			[]string{"Ana: hi"},
			[]int{},
		},
		"with several": {
			phone("# A: B: C: "+lrm+"verschlüsselt", "# Ana: B: C: hi", "# A: B: C: "+lrm+"Ana added you"),
			[]string{"Ana: B: C: hi"},
			[]int{},
		},
		"a person": {
			phone("# Dr: No: "+lrm+"Messages and calls are end-to-end encrypted.", "# Dr: No: hi: you", "# Ana: hi"),
			[]string{"Dr: No: hi: you", "Ana: hi"},
			[]int{},
		},
		"in a language from right to left": {
			phone("# משפחה: 2024: "+rlm+"ההודעות מוצפנות", "# משפחה: 2024: "+rlm+"דנה הוסיפה אותך", "# דנה: שלום", "# עמר: שלום"),
			[]string{"דנה: שלום", "עמר: שלום"},
			[]int{},
		},
		"without one, by a person who begins with its name": {
			phone("# Ana: "+lrm+"Messages and calls are end-to-end encrypted.", "# Ana: now: hi", "# Bob: cap: "+lrm+"image omitted", "# Bob: cap: hi"),
			[]string{"Ana: now: hi", "Bob: cap:", "Bob: cap: hi"},
			[]int{},
		},
		"perhaps, or a person's words": {
			phone("# Ana: phone: "+lrm+"+49 170 1234567", "# Bob: hi"),
			[]string{"Bob: hi"},
			[]int{1},
		},
		"none, but a caption": {
			phone("# Ana: cap: "+lrm+"image omitted", "# Ana: cap: hi", "# Bob: hi"),
			[]string{"Ana: cap:", "Ana: cap: hi", "Bob: hi"},
			[]int{},
		},
		"none, but the caption of a file": {
			phone("# Ana: cap: "+lrm+"<attached: 00000003-PHOTO-2025-01-13.jpg>", "# Bob: hi"),
			[]string{"Ana: cap:", "Bob: hi"},
			[]int{},
		},
		"none, but an edited message": {
			phone("# Ana: now: "+lrm+"<This message was edited>", "# Bob: hi"),
			[]string{"Ana: now:", "Bob: hi"},
			[]int{},
		},
	} {
		t.Run(name, func(t *testing.T) { reads(t, test.export, test.said, test.doubtful) })
	}
	got, _ := readAll(t, phone("# Dr: No: "+lrm+"Messages and calls are end-to-end encrypted.", "# Dr: No: hi"), Options{})
	if len(got) != 1 || got[0].Sender != "Dr: No" || got[0].Text != "hi" {
		t.Errorf("a person: got %+v", got)
	}
}

// TestMessages_BehindQuotationMarks are none where the marks are open before the colon; people
// have marks in their names, too.
func TestMessages_BehindQuotationMarks(t *testing.T) {
	const head = "13.01.25, 10:00 - "
	for name, test := range map[string]struct {
		lines    []string
		said     []string
		doubtful []int
	}{
		"straight": {
			[]string{`Ana changed the group name from "Team: week 1" to "Team: week 2"`, `Ana changed the group name from "Team: week 2" to "Team: week 3"`},
			[]string{},
			[]int{2, 3},
		},
		"straight, second": {
			[]string{`Ana changed the group name from "week 1" to "Team: week 2"`, `Ana changed the group name from "week 1" to "Team: week 3"`},
			[]string{},
			[]int{2, 3},
		},
		"curved": {
			[]string{"Ana changed the group name from “Team: A” to “B”", "Ana changed the group name from “Team: B” to “A”"},
			[]string{},
			[]int{2, 3},
		},
		"German": {
			[]string{"Ana hat den Betreff von „A: x“ zu „B: y“ geändert", "Ana hat den Betreff von „A: y“ zu „B: x“ geändert"},
			[]string{},
			[]int{2, 3},
		},
		"French, Danish, Swedish and Chinese": {
			[]string{
				"Ana a remplacé le sujet « A: x »", "Ana a remplacé le sujet « A: y »", "Ana ændrede emnet fra »A: x« til »B«", "Ana ændrede emnet fra »A: y« til »B«",
				"Ana ändrade ämnet från ”A: x” till ”B”", "Ana ändrade ämnet från ”A: y” till ”B”", "安娜将群名称从“A: x”改为“B”", "安娜将群名称从“A: y”改为“B”",
			},
			[]string{},
			[]int{2, 3, 4, 5, 6, 7, 8, 9},
		},
		"behind a prefix, which may be an abbreviation": {
			[]string{`דנה שינתה את שם הקבוצה מ"צוות: א" ל"צוות: ב"`},
			[]string{`דנה שינתה את שם הקבוצה מ"צוות: א" ל"צוות: ב"`},
			[]int{2},
		},
		"once": {
			[]string{"Ana changed the description to “Rules: be kind"},
			[]string{},
			[]int{2},
		},
		"in abbreviations": {
			[]string{`ד"ר כהן: הודעה "אחת"`, `עו"ד לוי: הודעה אחת`, `מנכ"לית החברה: שלום`, `ח"כית כהן: שלום`},
			[]string{`ד"ר כהן: הודעה "אחת"`, `עו"ד לוי: הודעה אחת`, `מנכ"לית החברה: שלום`, `ח"כית כהן: שלום`},
			[]int{2, 3, 4, 5},
		},
		"in names": {
			[]string{"Max „Mütze“ Müller: hallo", `Bob 27" TV: hi`, "Eve “Evil” Doe: hi", "Ole »Olli« Olsen: hej", "Åsa ”Åsis” Ek: hej", `Joe "Jo" Doe: hi`, `Al "the man": hi`},
			[]string{"Max „Mütze“ Müller: hallo", `Bob 27" TV: hi`, "Eve “Evil” Doe: hi", "Ole »Olli« Olsen: hej", "Åsa ”Åsis” Ek: hej", `Joe "Jo" Doe: hi`, `Al "the man": hi`},
			[]int{3},
		},
		"by somebody with half of them": {
			[]string{"“Bob: hi", "“Bob: I said “yes”"},
			[]string{"“Bob: hi", "“Bob: I said “yes”"},
			[]int{2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			export := head + "Zoë: first\n" + head + strings.Join(test.lines, "\n"+head)
			reads(t, []byte(export), append([]string{"Zoë: first"}, test.said...), test.doubtful)
		})
	}
}

// TestMessages_ByNamesThatBeginLikeOthers are messages, but doubtful; sentences are not.
func TestMessages_ByNamesThatBeginLikeOthers(t *testing.T) {
	for _, test := range []struct {
		short  string
		names  []string
		others []string
	}{
		{
			"Ana",
			[]string{"Ana Maria da Silva Souza", "Ana de la Cruz", "Ana María de la Torre", "Ana von der Arbeit", "Ana mamá de Luis", "Ana ❤️ de la Cruz", "Ana la del gimnasio ❤️", "Ana aus der 3b"},
			[]string{"Ana hat die Gruppenbeschreibung geändert", "Ana changed who can write here", "Ana changed the description to “here”", "Ana изменила описание группы"},
		},
		{"محمد", []string{"محمد بن عبد الله"}, nil},
		{"דנה", []string{"דנה מהעבודה של אבא", `דנה מאמנת של ד"ר כהן`, `דנה שינתה את השם ל"צוות`}, nil},
		{"राम", []string{"राम भाई दिल्ली वाले"}, nil},
	} {
		for _, name := range append(test.names, test.others...) {
			t.Run(name, func(t *testing.T) {
				export := "13.01.25, 10:00 - # one\n13.01.25, 10:00 - # two\n13.01.25, 10:01 - " + name + ": three"
				wanted := []string{test.short + ": one", test.short + ": two", name + ": three"}
				if slices.Contains(test.others, name) {
					wanted = wanted[:2]
				}
				reads(t, []byte(strings.ReplaceAll(export, "#", test.short+":")), wanted, []int{3})
			})
		}
	}
}

// TestMessages_WithSeveralMarks, or several lines behind one, are by people where they are calls
// and polls, and notices where the chat has them or they speak of their sender.
func TestMessages_WithSeveralMarks(t *testing.T) {
	first := "# Grp: " + lrm + "verschlüsselt"
	for name, test := range map[string]struct {
		export   []byte
		said     []string
		doubtful []int
	}{
		"a description": {
			phone(first, "# Ana: hi", "# Bob: hi", "# Grp: "+lrm+"Ana changed the group description to “be kind\nand quiet: please”"),
			[]string{"Ana: hi", "Bob: hi"},
			[]int{4},
		},
		"a description, by its sender": {
			phone(first, "# Ana: hi", "# Bob: hi", "# Ana: "+lrm+"Ana changed the group description to “be kind\n\nand quiet: please”"),
			[]string{"Ana: hi", "Bob: hi"},
			[]int{4},
		},
		"somebody": {
			phone(first, "# Ana: hi", "# Bob: hi", "# Grp: "+lrm+"Ana added "+lrm+"Bob", "# Grp: "+lrm+"Ana changed the settings. "+lrm+"Tap to see", "# Ana: "+lrm+"Ana changed her number. "+lrm+"Tap to call"),
			[]string{"Ana: hi", "Bob: hi"},
			[]int{},
		},
		"somebody, in a group of one": {
			phone(first, "# Ana: hi", "# Grp: "+lrm+"Ana added "+lrm+"Bob"),
			[]string{"Ana: hi"},
			[]int{},
		},
		"somebody, of which the beginning is missing": {
			phone("# Ana: hi", "# Grp: "+lrm+"Ana added "+lrm+"A", "# Grp: "+lrm+"Ana added "+lrm+"B", "# Grp: "+lrm+"Ana added "+lrm+"C", "# Grp: "+lrm+"Ana added "+lrm+"D"),
			[]string{"Ana: hi"},
			[]int{},
		},
		"calls by the other one of two": {
			phone("# Ana: "+lrm+"verschlüsselt", "# Ana: "+lrm+"Sprachanruf, "+lrm+"12 Min.", "# Ana: "+lrm+"Missed voice call, "+lrm+"Tap to call back", "# Ana: "+lrm+"音声通話、"+lrm+"12分", "# Bob: hi"),
			[]string{"Ana: Sprachanruf, 12 Min.", "Ana: Missed voice call", "Ana: 音声通話、12分", "Bob: hi"},
			[]int{},
		},
		"a call in the chat": {
			phone(first, "# Ana: hi", "# Bob: hi", "# Grp: "+lrm+"Missed voice call, "+lrm+"Tap to call back"),
			[]string{"Ana: hi", "Bob: hi", "Grp: Missed voice call"},
			[]int{},
		},
		"a poll about its sender": {
			phone(first, "# Bob: hi", "# Ana: "+lrm+"POLL:\nIs it Ana?\n"+lrm+"OPTION: yes ("+lrm+"2 votes)"),
			[]string{"Bob: hi", "Ana: POLL:\nIs it Ana?\nOPTION: yes (2 votes)"},
			[]int{},
		},
		"of several lines from right to left": {
			phone("# ليلى: "+rlm+"مرحبا\nأنا ليلى", "# عمر: "+rlm+"كيف الحال\nيا ليلى", "# عمر: "+rlm+"ماذا\nقال عمر"),
			[]string{"ليلى: مرحبا\nأنا ليلى", "عمر: كيف الحال\nيا ليلى", "عمر: ماذا\nقال عمر"},
			[]int{1, 3},
		},
		"something by a person": {
			phone(first, "# Bob: hi", "# Bob: "+lrm+"You invited "+lrm+"Ana", "# Bob: "+lrm+"Event\nDinner"),
			[]string{"Bob: hi", "Bob: You invited Ana", "Bob: Event\nDinner"},
			[]int{3, 4},
		},
	} {
		t.Run(name, func(t *testing.T) { reads(t, test.export, test.said, test.doubtful) })
	}
}

// TestMessages_ByWhatIsNoSenderTwice are named once, for what is there often may be a name.
func TestMessages_ByWhatIsNoSenderTwice(t *testing.T) {
	for _, sender := range []string{
		"Ana hat die Gruppenbeschreibung geändert", "Ana changed the description to “Rules", "Messages and calls are encrypted and nobody can read them, more",
	} {
		t.Run(sender, func(t *testing.T) {
			lines := []string{"Ana: one", "Ana: two", sender + ": three", sender + ": four"}
			reads(t, []byte("13.01.25, 10:00 - "+strings.Join(lines, "\n13.01.25, 10:00 - ")), lines, []int{3})
		})
	}
	reads(t, phone("# Bob: Hi", "# "+lrm+"Sichere Nachrichten: mehr", "# "+lrm+"Sichere Nachrichten: mehr"), []string{"Bob: Hi", "Sichere Nachrichten: mehr", "Sichere Nachrichten: mehr"}, []int{2})
	reads(t, phone("# Bob: Hi", "# "+lrm+"~ Zed: Hi", "# "+lrm+"~ Zed: ho"), []string{"Bob: Hi", "Zed: Hi", "Zed: ho"}, []int{})
}
