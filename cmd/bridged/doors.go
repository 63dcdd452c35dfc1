package main

import (
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
	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/compat/cloud"
	"bridged/internal/compat/evolution"
	"bridged/internal/compat/waha"
	"bridged/internal/config"
	"bridged/internal/media"
)

// doors are the doors for other bridges' clients.
var doors = map[string]struct {
	prefix string
	open   func(compat.Options) (http.Handler, error)
}{
	"waha":      {waha.Prefix, always(waha.New)},
	"evolution": {evolution.Prefix, always(evolution.New)},
	"cloud":     {cloud.Prefix, cloud.New},
}

// always returns the opening of a door that keeps nothing.
func always(open func(compat.Options) http.Handler) func(compat.Options) (http.Handler, error) {
	return func(o compat.Options) (http.Handler, error) { return open(o), nil }
}

// withDoors serves the doors of COMPAT below their prefixes, and those of COMPAT_LISTEN at
// the root of listeners of their own, which it returns. BASE_PATH is before all but the latter.
func (a *app) withDoors(c config.Config, router *api.Handler, next http.Handler) (http.Handler, []net.Listener, error) {
	opened, err := a.openDoors(c, router)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range c.Doors {
		door := doors[name]
		mounted := compat.Mount(c.BasePath, door.prefix, opened[name], a.streams, a.log)
		next = choose(func(path string) bool { return path == door.prefix || strings.HasPrefix(path, door.prefix+"/") }, mounted, next)
	}
	var listeners []net.Listener
	own := make(map[netip.AddrPort]http.Handler)
	for _, at := range c.DoorListeners {
		listener, err := listen("COMPAT_LISTEN", at.Address)
		if err != nil {
			return nil, nil, err
		}
		listeners = append(listeners, listener)
		own[place(listener.Addr().(*net.TCPAddr))] = compat.Mount("", "", opened[at.Door], a.streams, a.log)
		a.log.Info().Str("door", at.Door).Stringer("address", listener.Addr()).Msg("a door is open at an address of its own")
	}
	return byAddress(own, front.Below(c.BasePath, next)), listeners, nil
}

// openDoors opens each door that is served anywhere, once.
func (a *app) openDoors(c config.Config, router *api.Handler) (map[string]http.Handler, error) {
	options := compat.Options{
		Client: client.InProcess(router, ""), Token: router.Token, UntilRevoked: router.UntilRevoked, Receive: a.receiver(c), Instance: c.CompatInstance,
		DataDir: a.dir.path, PublicURLs: c.PublicURLs, URLToken: c.CompatURLToken, Log: a.log,
		Memory: compat.NewMemory(),
	}
	names := slices.Clone(c.Doors)
	for _, at := range c.DoorListeners {
		names = append(names, at.Door)
	}
	opened := make(map[string]http.Handler)
	for _, name := range names {
		if opened[name] != nil {
			continue
		}
		door, err := doors[name].open(options)
		if err != nil {
			return nil, fmt.Errorf("open the door %s: %w", name, err)
		}
		opened[name] = door
	}
	if opened["cloud"] == nil { // then it does not remove what it has kept
		if err := os.RemoveAll(a.dir.file(cloud.UploadsDir)); err != nil {
			return nil, fmt.Errorf("remove what was uploaded: %w", err)
		}
	}
	return opened, nil
}

// receiver returns what stores the files in the bodies of doors. They have room of their own:
// the calls that send them on take that of the API.
func (a *app) receiver(c config.Config) func(context.Context, io.Reader, int64, int64, func()) (compat.File, error) {
	files := media.NewPreparer(media.PreparerOptions{TempDir: a.dir.file("tmp"), MaxBytes: int64(c.MediaMaxBytes), Room: a.files.MakeRoom, Log: a.log})
	return func(ctx context.Context, from io.Reader, announced, family int64, cut func()) (compat.File, error) {
		file, err := files.Receive(ctx, media.Incoming{From: from, Announced: announced, Family: family, Cut: cut})
		if err != nil {
			return nil, err
		}
		return file, nil
	}
}

// place returns the address at which a listener or a connection is, without an IP address
// where that is any of the machine's.
func place(at *net.TCPAddr) netip.AddrPort {
	ip := at.AddrPort().Addr().Unmap().WithZone("")
	if ip.IsUnspecified() {
		ip = netip.Addr{}
	}
	return netip.AddrPortFrom(ip, at.AddrPort().Port())
}

// byAddress passes requests that came in at some addresses to their handlers, and others on.
func byAddress(own map[netip.AddrPort]http.Handler, next http.Handler) http.Handler {
	if len(own) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := next
		if at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); at != nil {
			for _, one := range []netip.AddrPort{place(at), netip.AddrPortFrom(netip.Addr{}, at.AddrPort().Port())} {
				if own[one] != nil {
					handler = own[one]
				}
			}
		}
		handler.ServeHTTP(w, r)
	})
}

// tokenOf returns the token of a request that does not carry it as a bearer: that of the
// console's visitor, or the key of a door's caller. It finds a connection's place.
func (a *app) tokenOf(r *http.Request) string {
	for _, name := range []string{"X-Api-Key", "apikey"} {
		if key := r.Header.Get(name); key != "" && a.hasDoors {
			return key
		}
	}
	if key := r.URL.Query().Get("access_token"); key != "" && a.hasDoors && a.urlToken {
		return key
	}
	return a.tokenOfSession(r)
}
