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
	"bridged/internal/client"
)

// Saving says where a downloaded file goes.
type Saving struct {
	// Output is the path of a file or a directory, or - for the output. By default the file is saved under
	// its own name in the working directory.
	Output string
	Force  bool // replaces an existing file
}

const toOutput = "-"

// Media is the file of a message to download.
type Media struct {
	Target
	Saving
}

// savedFile describes a file that was downloaded, for programs.
type savedFile struct {
	ChatJID  bridge.JID `json:"chatJid"`
	MsgID    string     `json:"msgId,omitempty"`
	Path     string     `json:"path"`
	Size     int64      `json:"size"`
	MimeType string     `json:"mimetype"`
}

// Media downloads the file of a message and prints its path, or the file itself.
func (s *Shell) Media(ctx context.Context, m Media) error {
	if err := s.check(m.Saving); err != nil {
		return err
	}
	chat, err := s.chatOf(ctx, m.Target)
	if err != nil {
		return err
	}
	resp, err := s.API.File(ctx, http.MethodGet, chat, m.Message, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return s.store(m.Saving, resp, fileNameIn(resp.Header, m.Message), savedFile{ChatJID: chat, MsgID: m.Message})
}

// MediaInfo prints details of the file of a message.
func (s *Shell) MediaInfo(ctx context.Context, of Target) error {
	chat, err := s.chatOf(ctx, of)
	if err != nil {
		return err
	}
	var answer client.Answer
	info, err := s.API.Answering(&answer).MediaInfo(ctx, chat, of.Message)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.printJSON(answer.Body)
	}
	return s.properties([][2]string{
		{"Type", string(info.Type)}, {"File", info.FileName}, {"MIME type", info.MimeType}, {"Bytes", numberOr(info.Size)}, {"Caption", info.Caption},
	})
}

// Picture downloads the picture of a person or a group and prints its path, or the picture itself.
func (s *Shell) Picture(ctx context.Context, who string, size bridge.PictureSize, saving Saving) error {
	if err := s.check(saving); err != nil {
		return err
	}
	jid, err := s.findAny(ctx, who)
	if err != nil {
		return err
	}
	resp, err := s.API.Do(ctx, http.MethodGet, client.PicturePath(jid, size), nil, nil)
	switch code := bridge.CodeOf(err); {
	case err != nil && (code == bridge.CodeNoPicture || code == bridge.CodePictureHidden):
		return &Error{bridge.NotFound("%v", err), ""}
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	name := jid.User() + filepath.Ext(fileNameIn(resp.Header, ""))
	return s.store(saving, resp, name, savedFile{ChatJID: jid})
}

// check returns an error if a file cannot be printed as the caller wants.
func (s *Shell) check(to Saving) error {
	switch {
	case to.Output == toOutput && s.JSON:
		return Usage("--json describes a saved file, so it cannot be combined with --output -")
	case to.Output == toOutput && s.Width > 0:
		return Usage("a terminal cannot show the file: redirect the output, or save it with --output FILE")
	}
	return nil
}

// store saves the body of a response under a name and prints the path, or prints the body. about is what
// JSON says about the file.
func (s *Shell) store(to Saving, resp *http.Response, name string, about savedFile) (err error) {
	if to.Output == toOutput {
		_, err := copyWhole(s.Out, resp)
		return err
	}
	about.Path = to.path(name)
	if about.Size, err = to.save(about.Path, resp); err != nil {
		return err
	}
	if s.JSON {
		about.MimeType, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
		return s.printJSON(about)
	}
	if err := s.note("Saved %d bytes.", about.Size); err != nil {
		return err
	}
	return s.print("%s\n", Printable(about.Path))
}

// path returns the path to save a file of this name under.
func (to Saving) path(name string) string {
	if to.Output == "" {
		return name
	}
	if info, err := os.Stat(to.Output); err == nil && info.IsDir() || strings.HasSuffix(to.Output, string(filepath.Separator)) {
		return filepath.Join(to.Output, name)
	}
	return to.Output
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
func (to Saving) save(path string, resp *http.Response) (size int64, err error) {
	file, err := to.create(path)
	if errors.Is(err, fs.ErrExist) {
		return 0, hinted(fmt.Errorf("%s exists already", path), "replace it with --force, or save under another name with --output")
	}
	if err != nil {
		return 0, err
	}
	size, err = copyWhole(file, resp)
	err = errors.Join(err, file.Close())
	if err == nil && to.Force {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(file.Name()))
	}
	return size, nil
}

// create creates the file, or with Force a temporary file next to it. It refuses to replace a device.
func (to Saving) create(path string) (*os.File, error) {
	if to.Force {
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
