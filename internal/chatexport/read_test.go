package chatexport

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// said returns messages as a reader sees them.
func said(messages []Message) []string {
	texts := []string{}
	for _, m := range messages {
		texts = append(texts, m.Sender+": "+m.Text)
	}
	return texts
}

// doubted returns the lines that are doubtful.
func doubted(notes Notes) []int {
	lines := []int{}
	for _, d := range notes.Warnings {
		lines = append(lines, d.Line)
	}
	return lines
}

// phone writes lines as an iPhone does; each # is the next second.
func phone(lines ...string) []byte {
	for i, line := range lines {
		lines[i] = strings.Replace(line, "#", fmt.Sprintf("[13.01.25, 10:00:%02d]", i), 1)
	}
	return []byte(strings.Join(lines, "\r\n"))
}

// reads checks what of an export is read as messages, and that the other ones of its lines are
// notices.
func reads(t *testing.T, export []byte, wanted []string, doubtful []int) {
	t.Helper()
	got, notes := readAll(t, export, Options{})
	if diff := cmp.Diff(wanted, said(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(doubtful, doubted(notes)); diff != "" {
		t.Errorf("doubts: %s %+v", diff, notes.Warnings)
	}
	if lines := strings.Count("\n"+string(export), "\n13.") + strings.Count("\n"+string(export), "\n["); len(got)+notes.System != lines {
		t.Errorf("%d messages and %d notices of %d lines", len(got), notes.System, lines)
	}
}

// TestMessages_ThatBeginWithAMark of the app: none is left out in silence, and what the app says
// is nobody's message.
func TestMessages_ThatBeginWithAMark(t *testing.T) {
	for name, test := range map[string]struct {
		export   []byte
		said     []string
		doubtful []int
	}{
		"by people, anywhere": {
			phone("# Weekend: "+lrm+"Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.", "# Weekend: "+lrm+"Anna hat dich hinzugefügt.", "# Bob: "+lrm+"hi there",
				"# Bob: and I go on", "# Bob: "+lrm+"again", "# Eve: "+lrm+"only this", "# Anna: well"),
			[]string{"Bob: and I go on", "Anna: well"},
			[]int{3, 5, 6},
		},
		"by the other one of two": {
			phone("# Anna: "+lrm+"Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.", "# Anna: "+lrm+"Anna ist ein Kontakt.", "# Anna: "+lrm+"Hi", "# Anna: Hi", "# Bob: Hi"),
			[]string{"Anna: Hi", "Bob: Hi"},
			[]int{3},
		},
		"by the chat": {
			phone("# Weekend: "+lrm+"verschlüsselt", "# Weekend: "+lrm+"Zoë ist beigetreten", "# Bob: Hi", "# Weekend: "+lrm+"Zoë hat die Gruppe verlassen"),
			[]string{"Bob: Hi"},
			[]int{},
		},
		"by the chat, of which the beginning is missing": {
			phone("# Bob: Hi", "# Weekend: "+lrm+"1 ist beigetreten", "# Weekend: "+lrm+"2 ist beigetreten", "# Weekend: "+lrm+"3 ist beigetreten", "# Weekend: "+lrm+"4 ist beigetreten"),
			[]string{"Bob: Hi"},
			[]int{},
		},
		"with the sender's name": {
			phone("# W: "+lrm+"verschlüsselt", "# Anna: Hi", "# Anna: "+lrm+"Anna hat das Gruppenbild geändert", "# Anna: "+lrm+"Code für Anna’s Telefon", "# 철수: 안녕", "# 철수: "+lrm+"철수님이 나갔습니다"),
			[]string{"Anna: Hi", "철수: 안녕"},
			[]int{},
		},
		"with the sender's name in a word": {
			phone("# W: "+lrm+"verschlüsselt", "# A: Hi", "# A: "+lrm+"Admin bist du"),
			[]string{"A: Hi"},
			[]int{3},
		},
		"before the sender": {
			phone("# W: "+lrm+"verschlüsselt", "# Bob: Hi", "# "+lrm+"~\u202fZed: hello", "# "+lrm+"+49 170 1234567: hello, too", "# "+lrm+"Sichere Nachrichten: mehr erfahren"),
			[]string{"Bob: Hi", "Zed: hello", "+49 170 1234567: hello, too"},
			[]int{3, 5},
		},
		"from right to left, all": {
			phone("# ليلى: "+rlm+"مرحبا", "# عمر: "+rlm+"كيف الحال"),
			[]string{"ليلى: مرحبا", "عمر: كيف الحال"},
			[]int{1, 2},
		},
		"from right to left, all by the other one": {
			phone("# ليلى: "+rlm+"الرسائل والمكالمات مشفرة", "# ليلى: "+rlm+"مرحبا", "# عمر: كيف الحال"),
			[]string{"ليلى: مرحبا", "عمر: كيف الحال"},
			[]int{2},
		},
		"from right to left, first": {
			phone("# ليلى: "+rlm+"الرسائل والمكالمات مشفرة", "# عمر: "+rlm+"مرحبا", "# عمر: كيف الحال", "# ليلى: كيف الحال", "# ليلى: "+rlm+"غادرت ليلى"),
			[]string{"عمر: مرحبا", "عمر: كيف الحال", "ليلى: كيف الحال"},
			[]int{2},
		},
		"from right to left, first, in words that are not known": {
			phone("# ليلى: "+rlm+"كل شيء بيننا سر", "# عمر: كيف الحال", "# ليلى: كيف الحال"),
			[]string{"عمر: كيف الحال", "ليلى: كيف الحال"},
			[]int{1},
		},
		"from right to left, first, in Hebrew": {
			phone("# דנה: "+rlm+"ההודעות והשיחות מוצפנות מקצה לקצה.", "# עמר: שלום", "# דנה: שלום", "# דנה: "+rlm+"הכול מוצפנות"),
			[]string{"עמר: שלום", "דנה: שלום", "דנה: הכול מוצפנות"},
			[]int{4},
		},
		"from right to left, first, before all": {
			phone("# ليلى: "+rlm+"الرسائل والمكالمات مُشفَّرة تمامًا", "# ليلى: "+rlm+"مرحبا", "# عمر: "+rlm+"كيف الحال"),
			[]string{"ليلى: مرحبا", "عمر: كيف الحال"},
			[]int{2, 3},
		},
		"from right to left, by the chat": {
			phone("# العائلة: "+rlm+"الرسائل والمكالمات مشفرة", "# العائلة: "+rlm+"انضم زيد", "# عمر: مرحبا", "# ليلى: مرحبا", "# العائلة: "+rlm+"غادر زيد"),
			[]string{"عمر: مرحبا", "ليلى: مرحبا"},
			[]int{},
		},
		"from right to left, by the chat, of which the beginning is missing": {
			phone("# עמר: שלום", "# דנה: שלום", "# המשפחה: "+rlm+"דנה הוסיפה את א", "# המשפחה: "+rlm+"דנה הוסיפה את ב", "# המשפחה: "+rlm+"דנה הוסיפה את ג", "# המשפחה: "+rlm+"דנה הוסיפה את ד"),
			[]string{"עמר: שלום", "דנה: שלום", "המשפחה: דנה הוסיפה את א", "המשפחה: דנה הוסיפה את ב", "המשפחה: דנה הוסיפה את ג", "המשפחה: דנה הוסיפה את ד"},
			[]int{3},
		},
		"from right to left, all by one, beside another language": {
			phone("# Bob: Hi", "# דנה: "+rlm+"שלום", "# דנה: "+rlm+"מה שלומך", "# דנה: "+rlm+"טוב", "# דנה: "+rlm+"להתראות"),
			[]string{"Bob: Hi", "דנה: שלום", "דנה: מה שלומך", "דנה: טוב", "דנה: להתראות"},
			[]int{2},
		},
		"from right to left, by somebody who writes without": {
			phone("# Alex: مرحبا", "# ليلى: مرحبا", "# Alex: "+rlm+"تم تشغيل ميزة الرسائل المؤقتة.", "# Alex: "+rlm+"كيف الحال"),
			[]string{"Alex: مرحبا", "ليلى: مرحبا", "Alex: تم تشغيل ميزة الرسائل المؤقتة.", "Alex: كيف الحال"},
			[]int{3},
		},
		"from right to left, by somebody who writes another language without": {
			phone("# Alex: Hi", "# ليلى: Hi", "# Alex: "+rlm+"مرحبا", "# Alex: "+rlm+"كيف الحال"),
			[]string{"Alex: Hi", "ليلى: Hi", "Alex: مرحبا", "Alex: كيف الحال"},
			[]int{3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			reads(t, test.export, test.said, test.doubtful)
		})
	}
}

// TestMessages_BelowANotice is what people have pasted.
func TestMessages_BelowANotice(t *testing.T) {
	for name, test := range map[string]struct {
		export   string
		said     []string
		doubtful []int
		system   int
	}{
		"pasted": {
			"13.01.25, 09:06 - Anna: forwarded:\n12.01.25, 08:00 - no colon here\nthis belongs to Anna\n\nand this\n13.01.25, 09:07 - Ben: ok",
			[]string{"Anna: forwarded:\n12.01.25, 08:00 - no colon here\nthis belongs to Anna\n\nand this", "Ben: ok"},
			[]int{2},
			0,
		},
		"pasted with an empty line": {
			"13.01.25, 09:06 - Anna: forwarded:\n12.01.25, 08:00 - no colon here\n\n\nthis belongs to Anna",
			[]string{"Anna: forwarded:\n12.01.25, 08:00 - no colon here\n\n\nthis belongs to Anna"},
			[]int{2},
			0,
		},
		"pasted twice": {
			"13.01.25, 09:06 - Anna: forwarded:\n12.01.25, 08:00 - no colon\nand\n12.01.25, 08:00 - no colon\nthis",
			[]string{"Anna: forwarded:\n12.01.25, 08:00 - no colon\nand\n12.01.25, 08:00 - no colon\nthis"},
			[]int{2, 4},
			0,
		},
		"pasted on an iPhone": {
			"[13.01.25, 09:06:00] Anna: forwarded:\n[12.01.25, 08:00:00] no colon here\nthis belongs to Anna",
			[]string{"Anna: forwarded:\n[12.01.25, 08:00:00] no colon here\nthis belongs to Anna"},
			[]int{2},
			0,
		},
		"nothing": {
			"13.01.25, 09:06 - Anna: hi\n13.01.25, 09:06 - Ben left\n\n13.01.25, 09:06 - Zoë left\n\n13.01.25, 09:07 - Anna: ho\n13.01.25, 09:08 - Anna left\n\n",
			[]string{"Anna: hi", "Anna: ho"},
			[]int{},
			3,
		},
		"at the beginning": {
			"13.01.25, 09:06 - Ben left\nand more\nand more\n13.01.25, 09:07 - Anna: ho",
			[]string{"Anna: ho"},
			[]int{2},
			1,
		},
		"below several": {
			"13.01.25, 09:06 - Anna: hi\n13.01.25, 09:06 - Ben left\n13.01.25, 09:06 - Zoë left\nand more\n13.01.25, 09:07 - Anna: ho",
			[]string{"Anna: hi", "Anna: ho"},
			[]int{4},
			2,
		},
		"a description of a group": {
			"13.01.25, 09:06 - Anna: hi\n13.01.25, 09:06 - Ben changed the description to “be kind\nand quiet”\n13.01.25, 09:07 - Anna: ho",
			[]string{"Anna: hi", "Anna: ho"},
			[]int{3},
			1,
		},
		"a description of a group in Swedish and Hebrew": {
			"13.01.25, 09:06 - Anna: hi\n13.01.25, 09:06 - Ben ändrade beskrivningen till ”var snäll\noch tyst”\n13.01.25, 09:07 - דנה שינתה את התיאור ל\"היו נחמדים\nושקטים\"\n13.01.25, 09:08 - Anna: ho",
			[]string{"Anna: hi", "Anna: ho"},
			[]int{3, 5},
			2,
		},
		"pasted behind an abbreviation": {
			"13.01.25, 09:06 - Anna: forwarded:\n12.01.25, 08:00 - ד\"ר כהן הצטרף\nthis belongs to Anna",
			[]string{"Anna: forwarded:\n12.01.25, 08:00 - ד\"ר כהן הצטרף\nthis belongs to Anna"},
			[]int{2},
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes := readAll(t, []byte(test.export), Options{})
			if diff := cmp.Diff(test.said, said(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.doubtful, doubted(notes)); diff != "" || notes.System != test.system {
				t.Errorf("%s %+v", diff, notes)
			}
		})
	}
}

// TestMessages_DoubtfulLines are named in their order, also where one was held back.
func TestMessages_DoubtfulLines(t *testing.T) {
	_, notes := readAll(t, onAndroid("x\n12.01.25, 08:00 - Ben left\n99.99.25, 08:00 - Ben: no such day", "y"), Options{})
	if diff := cmp.Diff([]int{2, 3}, doubted(notes)); diff != "" {
		t.Errorf("%s %+v", diff, notes)
	}
}

// TestMessages_BySomebodyWithoutAName are left out, but named.
func TestMessages_BySomebodyWithoutAName(t *testing.T) {
	got, notes := readAll(t, onAndroid("x\n13.01.25, 10:01 - : y\n13.01.25, 10:01 - \u200e: z\nand more\n13.01.25, 10:02 - Anna hat jemanden hinzugefügt"), Options{})
	if diff := cmp.Diff([]int{2, 3, 4}, doubted(notes)); diff != "" || len(got) != 1 || notes.System != 3 {
		t.Errorf("%s %+v %+v", diff, got, notes)
	}
}

// TestMessages_OfNobody are an error, and no empty chat.
func TestMessages_OfNobody(t *testing.T) {
	export := phone("# Weekend: "+lrm+"verschlüsselt", "# Weekend: "+lrm+"Anna hat dich hinzugefügt")
	a, err := Open(bytes.NewReader(export), int64(len(export)), limits)
	if err == nil {
		err = a.DetectFormat(Options{Zone: time.UTC, Now: now})
	}
	if err != nil {
		t.Fatal(err)
	}
	for m, err := range a.Messages(new(Notes)) {
		if bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "no messages, only notices") {
			t.Errorf("got %+v, %v", m, err)
		}
	}
}
