package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// measurePages reads histories of a chat with all the messages, then lists of
// many chats.
func (b *bench) measurePages(ctx context.Context) error {
	one, err := b.filled(ctx, b.options.messages, 1)
	if err != nil {
		return err
	}
	s, err := b.serve(ctx, one)
	if err != nil {
		return err
	}
	if err := errors.Join(b.historyPages(ctx, s), b.pageRate(ctx, s), s.stop()); err != nil {
		return err
	}
	if s, err = b.serveMany(ctx); err != nil {
		return err
	}
	return errors.Join(b.listPages(ctx, s), b.mediaInfo(ctx, s), s.stop())
}

// historyTasks returns the tasks for pages of one chat's messages.
func (s *server) historyTasks(ctx context.Context, chat corpusChat, messages int) ([]task, error) {
	history := client.HistoryPath(chat.jid)
	deep := messages * 9 / 10
	page, err := s.api.Messages(ctx, bridge.MessageQuery{Chat: chat.jid, Limit: 100, Offset: max(0, deep-100)})
	if err != nil {
		return nil, err
	}
	if len(page.Items) == 0 {
		return nil, errors.New("the chat has too few messages")
	}
	cursor := "" // stays empty if a small chat has only one page
	if page.NextCursor != nil {
		cursor = *page.NextCursor
	}
	from := "?limit=100&sender=" + page.Items[0].SenderJID.Escaped()
	until := "?limit=100&until=" + url.QueryEscape(page.Items[0].Timestamp.Format(time.RFC3339))
	common := url.QueryEscape(s.corpus.words[chat.primary][2])
	plain := func(limit, offset int) []plainWay {
		return []plainWay{func(ctx context.Context) ([]string, error) { return s.plain.Page(ctx, chat.jid, limit, offset) }}
	}
	makeTask := func(name string, p50 float64, query string, plain []plainWay) task {
		return task{part: "one chat", name: name, goal: Goal{P50: p50}, paths: []string{history + query}, plain: plain}
	}
	tasks := []task{
		makeTask("newest 100", 0.6, "?limit=100", plain(100, 0)),
		makeTask("newest 1,000", 3, "?limit=1000", plain(1000, 0)),
		makeTask("100 behind nine tenths, by cursor", 5, "?limit=100&cursor="+cursor, plain(100, deep)),
		makeTask("100 behind nine tenths, by offset", 20, fmt.Sprintf("?limit=100&offset=%d", deep), plain(100, deep)),
		makeTask("oldest 100", 2, "?limit=100&order=asc", nil),
		makeTask("100 until a moment", 2, until, nil),
		makeTask("one sender's newest 100", 2, from, nil),
		makeTask("one sender's newest 100 with a common word", 5, from+"&q="+common, nil),
	}
	if s.other != nil { // whose cursors are its own
		tasks = slices.DeleteFunc(tasks, func(t task) bool { return strings.Contains(t.paths[0], "cursor=") })
	}
	return tasks, nil
}

func (b *bench) historyPages(ctx context.Context, s *server) error {
	tasks, err := s.historyTasks(ctx, s.corpus.chats[0], s.corpus.messages)
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if err := b.measure(ctx, s, task); err != nil {
			return err
		}
	}
	return nil
}

// pageCallers counts the concurrent callers.
const pageCallers = 4

// pageRate measures the pages a second for concurrent callers.
func (b *bench) pageRate(ctx context.Context, s *server) error {
	rate, err := s.rate(ctx, client.HistoryPath(s.corpus.chats[0].jid)+"?limit=100", pageCallers, b.options.period/3)
	b.report.value(Value{
		Part: "one chat", Name: fmt.Sprintf("newest 100, %d callers at once", pageCallers), Messages: s.corpus.messages,
		Value: rate, Unit: "requests/s", Goal: "≥ 3,500", Met: rate >= 3500,
	})
	return err
}

// listPages reads the list of chats.
func (b *bench) listPages(ctx context.Context, s *server) error {
	for _, task := range s.listTasks() {
		if err := b.measure(ctx, s, task); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) listTasks() []task {
	makeTask := func(name string, queries ...string) task {
		t := task{part: "chats", name: name, goal: Goal{P50: 2}}
		for _, query := range queries {
			t.paths = append(t.paths, "/api/chats?limit=100"+query)
		}
		return t
	}
	var names []string
	for i := 0; i < len(s.corpus.chats); i += max(1, len(s.corpus.chats)/queriesEach) {
		names = append(names, "&q="+url.QueryEscape(s.corpus.chats[i].name))
	}
	return []task{
		makeTask("newest 100", ""),
		makeTask("groups", "&type=group"),
		makeTask("behind nine tenths, by offset", fmt.Sprintf("&offset=%d", len(s.corpus.chats)*9/10)),
		makeTask("with a name", names...),
		makeTask("with a name that none has", "&q=zqxj", "&q=щъфэ"),
		makeTask("with digits of many", "&q=55"),
	}
}

// mediaInfo reads the metadata of files.
func (b *bench) mediaInfo(ctx context.Context, s *server) error {
	chat := s.corpus.chats[0].jid
	page, err := s.api.Messages(ctx, bridge.MessageQuery{Chat: chat, Limit: 1000})
	if err != nil {
		return err
	}
	task := task{part: "media", name: "media-info", goal: Goal{P50: 2}}
	for _, m := range page.Items {
		if m.Media != nil && len(task.paths) < 50 {
			task.paths = append(task.paths, "/api/messages/media-info/"+chat.Escaped()+"/"+m.ID)
		}
	}
	if len(task.paths) == 0 {
		return errors.New("no file in the largest chat")
	}
	return b.measure(ctx, s, task)
}
