package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// Media is the file of a message to download.
type Media struct {
	Chat    string
	Message string // its id
	// Output is the path of a file or a directory, or - for the output. By default the file is saved under
	// its own name in the working directory.
	Output string
	Force  bool // replaces an existing file
}

// savedFile describes a file that was downloaded, for programs.
type savedFile struct {
	ChatJID  bridge.JID `json:"chatJid"`
	MsgID    string     `json:"msgId"`
	Path     string     `json:"path"`
	Size     int64      `json:"size"`
	MimeType string     `json:"mimetype"`
}

// Media downloads the file of a message and prints its path, or the file itself.
func (s *Shell) Media(ctx context.Context, m Media) error {
	toOutput := m.Output == "-"
	switch {
	case strings.TrimSpace(m.Message) == "":
		return Usage("name a message by its id, which bridged messages CHAT --ids shows")
	case toOutput && s.JSON:
		return Usage("--json describes a saved file, so it cannot be combined with --output -")
	case toOutput && s.Width > 0:
		return Usage("a terminal cannot show the file: redirect the output, or save it with --output FILE")
	}
	chat, err := s.find(ctx, m.Chat)
	if err != nil {
		return err
	}
	resp, err := s.API.File(ctx, http.MethodGet, chat, m.Message, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if toOutput {
		_, err := copyWhole(s.Out, resp)
		return err
	}
	path := m.path(resp.Header)
	size, err := m.save(path, resp)
	if err != nil {
		return err
	}
	if s.JSON {
		mimeType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		return s.printJSON(savedFile{chat, m.Message, path, size, mimeType})
	}
	if err := s.note("Saved %d bytes.", size); err != nil {
		return err
	}
	return s.print("%s\n", Printable(path))
}

// path returns the path to save the file under.
func (m Media) path(header http.Header) string {
	name := fileNameIn(header, m.Message)
	if m.Output == "" {
		return name
	}
	if info, err := os.Stat(m.Output); err == nil && info.IsDir() || strings.HasSuffix(m.Output, string(filepath.Separator)) {
		return filepath.Join(m.Output, name)
	}
	return m.Output
}

// fileNameIn returns the file name that the sender chose, as a name in a directory that every system
// allows and that is not hidden.
func fileNameIn(header http.Header, msgID string) string {
	_, parameters, _ := mime.ParseMediaType(header.Get("Content-Disposition"))
	return cmp.Or(plainName(parameters["filename"]), plainName(msgID), "file")
}

func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || IsUnsafe(r) {
			return '_'
		}
		return r
	}, bridge.PlainFileName(name))
	return shortened(strings.TrimSpace(strings.TrimLeft(strings.TrimRight(name, ". "), ".- ")))
}

// maxFileName is the length in bytes that every file system allows.
const maxFileName = 143

// shortened returns a name of at most maxFileName bytes, with its extension.
func shortened(name string) string {
	extension := filepath.Ext(name)
	if len(extension) > 32 {
		extension = ""
	}
	stem := strings.TrimSuffix(name, extension)
	for len(stem)+len(extension) > maxFileName {
		_, last := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-last]
	}
	return stem + extension
}

// save saves the file. It removes an incomplete file and, without Force, does not replace an existing one.
func (m Media) save(path string, resp *http.Response) (size int64, err error) {
	file, err := m.create(path)
	if errors.Is(err, fs.ErrExist) {
		return 0, hinted(fmt.Errorf("%s exists already", path), "replace it with --force, or save under another name with --output")
	}
	if err != nil {
		return 0, err
	}
	size, err = copyWhole(file, resp)
	err = errors.Join(err, file.Close())
	if err == nil && m.Force {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(file.Name()))
	}
	return size, nil
}

// create creates the file, or with Force a temporary file next to it. It refuses to replace a device.
func (m Media) create(path string) (*os.File, error) {
	if m.Force {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file and cannot be replaced", path)
		}
		return os.CreateTemp(filepath.Dir(path), ".bridged-*")
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// copyWhole copies a body. It fails if the body is shorter than its Content-Length.
func copyWhole(to io.Writer, resp *http.Response) (size int64, err error) {
	size, err = io.Copy(to, resp.Body)
	if err == nil && resp.ContentLength >= 0 && size != resp.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the download ended after %d bytes: try again: %w", size, err)
	}
	return size, err
}
