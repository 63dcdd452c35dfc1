package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"bridged/internal/api"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/compat/cloud"
	"bridged/internal/compat/evolution"
	"bridged/internal/compat/waha"
	"bridged/internal/config"
	"bridged/internal/media"
)

// adapters are the compatibility APIs by their names in COMPAT.
var adapters = map[string]struct {
	prefix string
	open   func(compat.Options) (http.Handler, error)
}{
	"waha":      {waha.Prefix, infallible(waha.New)},
	"evolution": {evolution.Prefix, infallible(evolution.New)},
	"cloud":     {cloud.Prefix, cloud.New},
}

// infallible adapts the constructor of an adapter that needs no files.
func infallible(open func(compat.Options) http.Handler) func(compat.Options) (http.Handler, error) {
	return func(o compat.Options) (http.Handler, error) { return open(o), nil }
}

// withAdapters serves the APIs of COMPAT under BASE_PATH and their prefixes. It returns the listeners of
// COMPAT_LISTEN, which serve one API each at their root.
func (a *app) withAdapters(c config.Config, router *api.Handler, next http.Handler) (http.Handler, []net.Listener, error) {
	opened, err := a.openAdapters(c, router)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range c.Adapters {
		prefix := adapters[name].prefix
		mounted := compat.Mount(c.BasePath, prefix, opened[name], a.streams, a.log)
		next = choose(func(path string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }, mounted, next)
	}
	var listeners []net.Listener
	own := make(map[netip.AddrPort]http.Handler)
	for _, at := range c.AdapterListeners {
		listener, err := listen("COMPAT_LISTEN", at.Address)
		if err != nil {
			return nil, nil, err
		}
		listeners = append(listeners, listener)
		own[boundAddress(listener.Addr().(*net.TCPAddr))] = compat.Mount("", "", opened[at.Name], a.streams, a.log)
		a.log.Info().Str("api", at.Name).Stringer("address", listener.Addr()).Msg("a compatibility API listens")
	}
	return byAddress(own, front.Under(c.BasePath, next)), listeners, nil
}

// openAdapters opens each API of COMPAT and COMPAT_LISTEN once.
func (a *app) openAdapters(c config.Config, router *api.Handler) (map[string]http.Handler, error) {
	options := compat.Options{
		Client: client.InProcess(router, ""), Token: router.Token, UntilRevoked: router.UntilRevoked, Receive: a.receiver(c), Instance: c.CompatInstance,
		DataDir: a.dir.path, PublicURLs: c.PublicURLs, URLToken: c.CompatURLToken, Log: a.log,
		Memory: compat.NewMemory(),
	}
	names := slices.Clone(c.Adapters)
	for _, at := range c.AdapterListeners {
		names = append(names, at.Name)
	}
	opened := make(map[string]http.Handler)
	for _, name := range names {
		if opened[name] != nil {
			continue
		}
		adapter, err := adapters[name].open(options)
		if err != nil {
			return nil, fmt.Errorf("open the compatibility API %s: %w", name, err)
		}
		opened[name] = front.Through(bridge.Entrance(name), adapter)
	}
	if opened["cloud"] == nil { // otherwise it removes old uploads itself
		if err := os.RemoveAll(a.dir.file(cloud.UploadsDir)); err != nil {
			return nil, fmt.Errorf("remove the files that were uploaded to the Cloud API: %w", err)
		}
	}
	return opened, nil
}

// receiver returns the function that stores files of the compatibility APIs' requests. They have a quota
// of their own, because the API counts each file again when it is sent.
func (a *app) receiver(c config.Config) func(context.Context, io.Reader, int64, int64, func()) (compat.File, error) {
	files := media.NewPreparer(media.PreparerOptions{TempDir: a.dir.file("tmp"), MaxBytes: int64(c.MediaMaxBytes), Room: a.files.MakeRoom, Log: a.log})
	return func(ctx context.Context, from io.Reader, announced, family int64, cut func()) (compat.File, error) {
		file, err := files.Receive(ctx, media.Incoming{From: from, Declared: announced, Tree: family, Cancel: cut})
		if err != nil {
			return nil, err
		}
		return file, nil
	}
}

// boundAddress returns a listener's or connection's address, without the IP address if it is unspecified.
func boundAddress(at *net.TCPAddr) netip.AddrPort {
	ip := at.AddrPort().Addr().Unmap().WithZone("")
	if ip.IsUnspecified() {
		ip = netip.Addr{}
	}
	return netip.AddrPortFrom(ip, at.AddrPort().Port())
}

// byAddress returns a handler that chooses by the address at which a request was received.
func byAddress(own map[netip.AddrPort]http.Handler, next http.Handler) http.Handler {
	if len(own) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := next
		if at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); at != nil {
			for _, one := range []netip.AddrPort{boundAddress(at), netip.AddrPortFrom(netip.Addr{}, at.AddrPort().Port())} {
				if own[one] != nil {
					handler = own[one]
				}
			}
		}
		handler.ServeHTTP(w, r)
	})
}

// treeOf returns the token tree of a request without a bearer token: of the key of a compatibility API, or of
// a session of the console. It decides which connection slots the caller may use.
func (a *app) treeOf(r *http.Request) (tree int64, known bool) {
	var key string
	if a.urlToken {
		key = r.URL.Query().Get("access_token")
	}
	key = cmp.Or(r.Header.Get("X-Api-Key"), r.Header.Get("apikey"), key)
	switch {
	case a.compat && key != "":
		return a.router.Tree(r.Context(), key)
	case a.console != nil:
		return a.console.TreeOf(r)
	}
	return 0, false
}
