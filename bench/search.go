package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// measureSearch searches the store with many chats: all of them, some of them, in
// every script, and inside one chat.
func (b *bench) measureSearch(ctx context.Context) error {
	s, err := b.serveMany(ctx)
	if err != nil {
		return err
	}
	return errors.Join(b.searchIn(ctx, s), s.stop())
}

// serveMany runs a bridge over the store with many chats.
func (b *bench) serveMany(ctx context.Context) (*server, error) {
	filled, err := b.filled(ctx, b.options.messages, b.options.chats)
	if err != nil {
		return nil, err
	}
	return b.serve(ctx, filled)
}

func (b *bench) searchIn(ctx context.Context, s *server) error {
	kinds, err := s.queries(ctx)
	if err != nil {
		return err
	}
	var tasks []task
	for _, kind := range kinds {
		tasks = append(tasks, s.searchTask(kind, ""))
	}
	tasks = append(tasks, s.filteredTasks(kinds)...)
	tasks = append(tasks, s.scriptTasks()...)
	tasks = append(tasks, s.chatTasks(kinds)...)
	for _, task := range tasks {
		if err := b.measure(ctx, s, task); err != nil {
			return err
		}
	}
	if err := b.measureRandom(ctx, s); err != nil {
		return err
	}
	return b.compareAnswers(ctx, s)
}

// searchTask searches all chats for texts of one kind.
func (s *server) searchTask(kind queries, filter string) task {
	task := task{part: "search", name: kind.name, goal: kind.goal}
	for _, text := range kind.texts {
		task.paths = append(task.paths, searchPath(text)+filter)
		if filter == "" {
			task.plain = append(task.plain, func(ctx context.Context) ([]string, error) { return s.plain.Search(ctx, text, 100) })
		}
	}
	return task
}

func searchPath(text string) string { return "/api/messages/search?q=" + url.QueryEscape(text) }

// filteredTasks searches ten days in the middle, and one kind of chat.
func (s *server) filteredTasks(kinds []queries) []task {
	middle := epoch.Add(span / 2)
	days := "&since=" + middle.Format(time.RFC3339) + "&until=" + middle.AddDate(0, 0, 10).Format(time.RFC3339)
	var tasks []task
	for _, kind := range kinds {
		if kind.name != "middling word" && kind.name != "common word, newest 100" && kind.name != "absent word of common letters" {
			continue
		}
		for _, filter := range []struct{ name, query string }{{"ten days", days}, {"groups", "&chatType=group"}, {"individuals", "&chatType=individual"}} {
			task := s.searchTask(kind, filter.query)
			task.name += ", " + filter.name
			task.goal.Times = 0 // there is no scan to compare with
			if filter.name == "groups" || filter.name == "individuals" {
				task.goal = Goal{P50: 3}
			}
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// scriptTasks searches for words of each language in unusual case.
func (s *server) scriptTasks() []task {
	var tasks []task
	for i, language := range languages {
		kind := queries{name: "in " + language.name, goal: Goal{P50: 5, P99: 20}}
		for rank := 40; rank < 40+queriesEach; rank++ {
			kind.texts = append(kind.texts, language.upper(s.corpus.words[i][rank]))
		}
		tasks = append(tasks, s.searchTask(kind, ""))
	}
	return tasks
}

// chatTasks searches inside the largest chat and inside one with about 500
// messages.
func (s *server) chatTasks(kinds []queries) []task {
	var tasks []task
	for _, chat := range []struct {
		name string
		jid  bridge.JID
	}{{"chat of 500", s.corpus.chatOf(500)}, {"largest chat", s.corpus.chats[0].jid}} {
		for _, kind := range kinds {
			if strings.HasPrefix(kind.name, "one or two") {
				continue
			}
			task := task{part: chat.name, name: kind.name, goal: Goal{P50: 3, P99: 30}}
			for _, text := range kind.texts {
				task.paths = append(task.paths, client.HistoryPath(chat.jid)+"?q="+url.QueryEscape(text))
				task.plain = append(task.plain, func(ctx context.Context) ([]string, error) {
					return s.plain.SearchIn(ctx, chat.jid, text, 100)
				})
			}
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// compareAnswers counts the searches in another case that a scan folding only
// ASCII answers differently.
func (b *bench) compareAnswers(ctx context.Context, s *server) error {
	searched, differ := 0, 0
	for _, task := range s.scriptTasks() {
		for i, path := range task.paths {
			var page struct{ Matches []bridge.Match }
			if err := s.api.Call(ctx, http.MethodGet, path, nil, &page); err != nil {
				return err
			}
			plain, err := task.plain[i](ctx)
			if err != nil {
				return err
			}
			searched++
			if !sameIDs(page.Matches, plain) {
				differ++
			}
		}
	}
	b.report.value(Value{
		Part: "search", Name: fmt.Sprintf("of %d in other case, answered otherwise by the scan", searched),
		Messages: s.corpus.messages, Value: float64(differ), Unit: "searches",
	})
	return nil
}

func sameIDs(matches []bridge.Match, ids []string) bool {
	if len(matches) != len(ids) {
		return false
	}
	for i, match := range matches {
		if match.MsgID != ids[i] {
			return false
		}
	}
	return true
}
