package chatexport

import (
	"archive/zip"
	"cmp"
	"io"
	"path"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// findText finds the chat's text among the files: people send texts, too.
func (a *Archive) findText(entries []*zip.File) error {
	var texts []*zip.File
	for _, entry := range entries {
		if isText(entry.Name) && a.files[composed(path.Base(entry.Name))] == entry {
			texts = append(texts, entry)
		}
	}
	slices.SortStableFunc(texts, func(a, b *zip.File) int { return cmp.Compare(rank(a), rank(b)) })
	for _, entry := range texts {
		if entry.UncompressedSize64 > MaxText && rank(entry) < 2 {
			return tooLarge("the text of the chat has more than %d MiB", MaxText>>20)
		} else if entry.UncompressedSize64 > MaxText {
			continue
		}
		begins, hasSender, err := beginsAsChat(entry)
		switch name := composed(path.Base(entry.Name)); {
		case err != nil:
			return err
		case begins && a.text == nil:
			delete(a.files, name)
			a.text, a.textName = func() (io.ReadCloser, error) { return open(entry) }, name
		case (hasSender || begins && rank(entry) < 2) && !isMediaName(name):
			a.chats = append(a.chats, name)
		}
	}
	if a.text != nil {
		return nil
	}
	return bridge.Invalid("the archive has no text of an exported chat: none of its .txt files has a line that begins with a date and a time")
}

// rank sorts texts by how surely they are the chat's.
func rank(f *zip.File) int {
	switch name := strings.ToLower(path.Base(f.Name)); {
	case name == "_chat.txt":
		return 0
	case strings.Contains(name, "whatsapp"):
		return 1
	}
	return 2
}

// beginsAsChat reports whether one of the first lines of a text begins a message, and whether
// that has a sender.
func beginsAsChat(entry *zip.File) (begins, hasSender bool, err error) {
	text, err := open(entry)
	if err != nil {
		return false, false, err
	}
	defer text.Close()
	for l, err := range lines(text) {
		if err != nil {
			return false, false, err
		}
		if h, ok := prefixOf(l.text); ok {
			begins = true
			_, _, hasSender = senderOf(h, "")
		}
		if hasSender || l.number == 100 {
			break
		}
	}
	return begins, hasSender, nil
}

func isText(name string) bool { return strings.EqualFold(path.Ext(name), ".txt") }

func isArchive(name string) bool {
	return slices.Contains([]string{".zip", ".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst"}, strings.ToLower(path.Ext(name)))
}

// CheckInner refuses archives and other chats within the archive, unless people have sent them: sent
// files are stored unchanged.
func (a *Archive) CheckInner(sent func(name string) bool) error {
	for _, name := range a.inner {
		if !sent(name) {
			return refused("it has another archive in it, %s", quoted(name))
		}
	}
	for _, name := range a.chats {
		if !sent(name) {
			return refused("it has another exported chat in it, %s: unpack it, and import each chat by itself", quoted(name))
		}
	}
	return nil
}
