package chatexport

import "testing"

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
