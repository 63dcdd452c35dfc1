package composer

import (
	"testing"

	. "bridged/internal/e2e/harness/browser"
)

// Texts that are written in the composer.
func TestConsole_Texts(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.SubtestAtBothSizes(t, "TextsWaitForTheConnection", textsWaitForTheConnection)
	v.Subtest(t, "ATextIsSentOnce", aTextIsSentOnce)
	v.SubtestAtBothSizes(t, "ARefusedTextStays", aRefusedTextStays)
	v.SubtestAtBothSizes(t, "EditsAndDeletesInPlace", editsAndDeletesInPlace)
	v.SubtestAtBothSizes(t, "MentionsMembers", mentionsMembers)
	v.Subtest(t, "LogoutForgetsUnsentTexts", logoutForgetsUnsentTexts)
}

// Files, and what else the composer attaches.
func TestConsole_Files(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.SubtestAtBothSizes(t, "FilesAreDropped", filesAreDropped)
	v.Subtest(t, "FilesArePastedAndChosen", filesArePastedAndChosen)
	v.SubtestAtBothSizes(t, "SendsEveryKindLater", sendsEveryKindLater)
	v.Subtest(t, "AFileShowsItsProgress", aFileShowsItsProgress)
}

// Voice notes, whose recording takes seconds.
func TestConsole_VoiceNotes(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.SubtestAtBothSizes(t, "RecordsAVoiceNote", recordsAVoiceNote)
	v.Subtest(t, "DiscardsAVoiceNote", discardsAVoiceNote)
}

// What depends on the bridge's settings.
func TestConsole_Settings(t *testing.T) {
	t.Parallel()
	v := Visit(t, "SHOW_TYPING=true", "MEDIA_MAX_BYTES=1MB")
	v.Subtest(t, "FilesHaveALimit", filesHaveALimit)
	v.Subtest(t, "ShowsWhoTypes", showsWhoTypes)
}
