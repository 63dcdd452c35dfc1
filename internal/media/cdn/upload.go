package cdn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
)

// uploadIdle is how long a media server may read nothing before the next host is tried.
const uploadIdle = 30 * time.Second

// Upload encrypts a file and uploads it to the CDN. Unlike whatsmeow, it tries every host, and tries again
// after temporary failures. It writes the encrypted file to the disk first, because the address of the upload
// contains the file's hash.
//
// Its errors are [bridge.CodeStorageUnavailable], [bridge.CodeSendRefused],
// [bridge.CodeNotConnected], or the error of a cancelled ctx.
func (c *Client) Upload(ctx context.Context, conns bridge.MediaConns, f bridge.File) (up bridge.UploadedFile, err error) {
	encrypted, err := disk.Room(c.makeRoom).Create(func() (*os.File, error) { return os.CreateTemp(c.tempDir, "upload-*") })
	if err != nil {
		return up, notEncrypted(err)
	}
	defer func() { err = errors.Join(err, encrypted.Close(), os.Remove(encrypted.Name())) }()
	if up.EncryptedFile, err = encryptFile(disk.Room(c.makeRoom).Writer(encrypted), f); err != nil {
		return up, err
	}
	began := time.Now()
	if err := c.uploadToAny(ctx, conns, f.Type, encrypted, &up); err != nil {
		return up, err
	}
	c.log.Info().Int64("bytes", up.EncryptedSize).Dur("took", time.Since(began)).Msg("file uploaded")
	return up, nil
}

// UseRoom sets a function that frees disk space for uploads.
func (c *Client) UseRoom(more disk.Room) { c.makesRoom.Store(&more) }

// makeRoom is a [disk.Room] that calls the function of UseRoom.
func (c *Client) makeRoom(size int64) bool {
	more := c.makesRoom.Load()
	return more != nil && (*more)(size)
}

func encryptFile(dst io.Writer, f bridge.File) (encrypted bridge.EncryptedFile, err error) {
	plain, err := os.Open(f.Path)
	if err != nil {
		return encrypted, err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	if encrypted, err = Encrypt(dst, plain, f.Type); err != nil {
		return encrypted, notEncrypted(err)
	}
	return encrypted, nil
}

func notEncrypted(cause error) error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "the file could not be encrypted for the network: the disk may be full").Because(cause)
}

// uploadToAny tries the hosts in turn until one accepts the file. It renews refused credentials once.
func (c *Client) uploadToAny(ctx context.Context, conns bridge.MediaConns, t bridge.MediaType, encrypted *os.File, up *bridge.UploadedFile) error {
	renewed := false
	err := c.onHosts(ctx, conns, func(conn *bridge.MediaConn, host string) error {
		err := c.uploadTo(ctx, host, conn.Auth, t, encrypted, up)
		if status := answerIn(err).status; !renewed && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
			renewed = true
			fresh, connErr := c.connect(ctx, conns, true)
			if connErr != nil {
				return connErr
			}
			conn.Auth = fresh.Auth
			err = c.uploadTo(ctx, host, conn.Auth, t, encrypted, up)
		}
		return finalRefusal(err)
	})
	switch {
	case err == nil, is[*bridge.Error](err):
		return err
	case errors.Is(ctx.Err(), context.Canceled): // the program stops
		return ctx.Err()
	}
	return bridge.NotConnected("the file could not be uploaded to the network: try again in a moment").Because(err)
}

// finalRefusal returns a [bridge.CodeSendRefused] for a status between 400 and 499 except 408 and 429: trying again
// would not help. It returns other errors unchanged.
func finalRefusal(err error) error {
	status := answerIn(err).status
	if status < 400 || status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests {
		return err
	}
	return bridge.Fail(bridge.CodeSendRefused, "the network's media server refused the file (status %d)", status).Because(err)
}

func (c *Client) uploadTo(ctx context.Context, host, auth string, t bridge.MediaType, encrypted *os.File, up *bridge.UploadedFile) error {
	token := base64.URLEncoding.EncodeToString(up.FileEncSHA256)
	address := "https://" + host + "/mms/" + mediaClasses[t].mms + "/" + token + "?" + url.Values{"auth": {auth}, "token": {token}}.Encode()
	// A new reader for each try: after a failure the transport may still read from the last one.
	body := io.TeeReader(io.NewSectionReader(encrypted, 0, up.EncryptedSize), disk.NewProgress(c.log, "uploading file", disk.ProgressEvery))
	resp, err := c.do(ctx, c.uploadIdle, http.MethodPost, address, body, func(r *http.Request) { r.ContentLength = up.EncryptedSize })
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return newStatusError(resp)
	}
	return readLocation(resp.Body, up)
}

// readLocation reads the address of the file from the media server's answer.
func readLocation(body io.Reader, up *bridge.UploadedFile) error {
	var answer struct {
		URL        string `json:"url"`
		DirectPath string `json:"direct_path"`
	}
	if err := json.NewDecoder(io.LimitReader(body, 1<<16)).Decode(&answer); err != nil {
		return fmt.Errorf("read the media server's answer: %w", err)
	}
	if !bridge.IsDirectPath(answer.DirectPath) {
		return errors.New("the media server did not say where the file is")
	}
	up.URL, up.DirectPath = answer.URL, answer.DirectPath
	return nil
}
