package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/media"
	"bridged/internal/store"
	"bridged/internal/urlguard"
	"bridged/internal/wa"
	"bridged/internal/webhook"
)

// newCDN returns the network's media servers, reached as the socket is.
func newCDN(c config.Config, dir *dataDir, log zerolog.Logger) *media.CDN {
	return media.NewCDN(media.CDNOptions{Proxy: c.Network.Proxy, Authority: c.Network.Authority(), TempDir: dir.file("tmp"), Log: log})
}

// openFiles opens both ways of files: the cache of those that come, and the
// preparer of those that go, behind the guard.
func openFiles(c config.Config, dir *dataDir, cdn *media.CDN, account *wa.Manager, messages *store.Store, log zerolog.Logger) (*media.Cache, *media.Preparer, error) {
	if len(c.FetchAllow) > 0 {
		log.Warn().Strs("prefixes", strings.Split(c.SimulatedFetchAllow, ",")).Msg("SIMULATED_FETCH_ALLOW is set: send-media fetches from these addresses, public or not")
	}
	guard := urlguard.New(urlguard.Options{Timeout: c.FetchTimeout, UserAgent: "bridged/" + version, AllowPrefixes: c.FetchAllow})
	files, err := media.NewCache(media.CacheOptions{
		Dir: dir.file("media"), MaxBytes: int64(c.MediaCacheBytes), MaxFile: int64(c.MediaMaxBytes), CDN: cdn, Account: account, HasFile: hasFile(messages), Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	preparer, err := media.NewPreparer(media.PreparerOptions{Guard: guard, TempDir: dir.file("tmp"), MaxBytes: int64(c.MediaMaxBytes), Cache: files, Log: log})
	return files, preparer, err
}

// maxPictureBytes is how much of the disk the pictures of people and groups take.
const maxPictureBytes = 64 << 20

// openPictures opens the pictures of people and groups.
func openPictures(dir *dataDir, cdn *media.CDN, account *wa.Manager, messages *store.Store, log zerolog.Logger) (*media.Pictures, error) {
	return media.NewPictures(media.PicturesOptions{
		Dir: dir.file("pictures"), MaxBytes: maxPictureBytes, CDN: cdn, Account: account, Now: messages.Clock().Now, Log: log,
	})
}

// hasFile returns a function that looks into the store whether a message that was
// read before still has its file.
func hasFile(messages *store.Store) func(context.Context, bridge.Message) (bool, error) {
	return func(ctx context.Context, was bridge.Message) (bool, error) {
		switch is, err := messages.Message(ctx, was.Chat, was.ID); {
		case bridge.CodeOf(err) == bridge.CodeNotFound:
			return false, nil
		case err != nil:
			return false, err
		default:
			return is.Media != nil && bytes.Equal(is.Media.Ref.FileEncSHA256, was.Media.Ref.FileEncSHA256), nil
		}
	}
}

// openWebhooks brings the webhooks of the environment up to date. Nothing is
// posted until the dispatcher runs.
func openWebhooks(ctx context.Context, c config.Config, s *store.Store, log zerolog.Logger) (*webhook.Dispatcher, error) {
	agent := "bridged/" + version
	d := webhook.New(webhook.Options{
		Store: s, Guard: urlguard.New(urlguard.Options{UserAgent: agent, AllowPrefixes: c.FetchAllow}), AllowPrivate: c.PrivateHooks, UserAgent: agent, Log: log,
	})
	return d, d.Configure(ctx, c.Webhooks)
}
