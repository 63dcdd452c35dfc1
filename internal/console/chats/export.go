package chats

import (
	"net/http"
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// exportPage offers a chat as a file.
type exportPage struct {
	Chat bridge.JID
	Name string
	Curl string
}

// ShowExport shows the choices for exporting a chat.
func ShowExport(req *frame.Request) error {
	chat, err := req.API.Chat(req.Context(), req.Chat)
	if err != nil {
		return err
	}
	page := exportPage{Chat: chat.JID, Name: view.ChatName(chat), Curl: req.Curl("GET", exportPath(chat.JID)+"?format=txt", nil)}
	return req.Show("export", page.Name+": export", page)
}

func exportPath(chat bridge.JID) string { return "/api/chats/" + chat.Escaped() + "/export" }

// Export answers with a chat as a file. If the export fails halfway, so does the download.
func Export(req *frame.Request) error {
	asked := url.Values{}
	for _, name := range []string{"format", "files", "timezone"} {
		if value := req.URL.Query().Get(name); value != "" {
			asked.Set(name, value)
		}
	}
	ctx, cancel := req.UntilLoggedOut()
	defer cancel()
	answer, err := req.API.Do(ctx, http.MethodGet, exportPath(req.Chat)+"?"+asked.Encode(), nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if !req.SendFile(answer, true, "no-store") {
		panic(http.ErrAbortHandler)
	}
	return nil
}
