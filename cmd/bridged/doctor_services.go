package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"bridged/internal/config"
	"bridged/internal/doctor"
	"bridged/internal/fleet"
)

// serviceTimeout is the time for a service of the configuration to answer the doctor.
const serviceTimeout = 5 * time.Second

// serviceChecks returns checks of the services that the configuration names.
func serviceChecks(c config.Config) (list []doctor.Check) {
	if c.Transcriber != nil {
		list = append(list, doctor.Check{Name: "transcripts", Look: func(ctx context.Context) []doctor.Finding {
			return []doctor.Finding{transcriberAnswers(ctx, c)}
		}})
	}
	if c.NATSURL != "" {
		list = append(list, doctor.Check{Name: "fleet", Look: func(context.Context) []doctor.Finding { return []doctor.Finding{natsAnswers(c)} }})
	}
	return list
}

// transcriberAnswers connects to the service that transcribes voice notes. Any answer counts: the service
// has no route that says whether it works.
func transcriberAnswers(ctx context.Context, c config.Config) doctor.Finding {
	ctx, cancel := context.WithTimeout(ctx, serviceTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, c.Transcriber.String(), nil)
	if err == nil {
		err = headOnce(req)
	}
	if err != nil {
		return doctor.Finding{
			Verdict: doctor.Fail, Message: fmt.Sprintf("TRANSCRIBE_URL, %s, does not answer: %v", c.Transcriber.Redacted(), err),
			Remedy: "start the service, or correct TRANSCRIBE_URL; until then voice notes wait",
		}
	}
	return doctor.Finding{Verdict: doctor.OK, Message: c.Transcriber.Redacted() + " answers"}
}

// headOnce makes a request without a proxy and without following redirects, as transcribing does. Without
// statuses any answer counts.
func headOnce(req *http.Request, statuses ...int) error {
	transport := &http.Transport{DisableKeepAlives: true}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err // the finding names the address
	}
	if err != nil {
		return err
	}
	if len(statuses) > 0 && !slices.Contains(statuses, resp.StatusCode) {
		err = fmt.Errorf("the answer is %s", resp.Status)
	}
	return errors.Join(err, resp.Body.Close())
}

// natsAnswers connects to NATS as the bridge does.
func natsAnswers(c config.Config) doctor.Finding {
	server := fleet.Server{URL: c.NATSURL, CredsFile: c.NATSCredsFile, CAFile: c.NATSCAFile}
	version, err := server.Check(serviceTimeout)
	if err != nil {
		return doctor.Finding{
			Verdict: doctor.Fail, Message: fmt.Sprintf("cannot connect to a server of NATS_URL: %v", err),
			Remedy: "start the servers, or correct NATS_URL, NATS_CREDS_FILE and NATS_CA_FILE",
		}
	}
	return doctor.Finding{Verdict: doctor.OK, Message: "NATS " + version + " answers"}
}
