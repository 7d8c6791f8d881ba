/** HTTP answers to the refusals of capture. */
import { type BadRequest, Conflict, NotFound, Unavailable } from "../../contract/Errors.ts"
import type { CertificateView as Certificate } from "../../observe/capture/CaptureViews.ts"
import type { CertificateView } from "../../contract/traffic/CaptureViews.ts"
import type { BadHost, BadValue, HostKnown, TooManyHosts } from "../../observe/capture/CaptureErrors.ts"
import type { JournalFailed } from "../../observe/capture/host/HostJournal.ts"
import type { SystemProxyUnsupported } from "../../observe/capture/host/SystemProxy.ts"
import type { TrustFailed } from "../../observe/capture/host/TrustStore.ts"
import type { ListenFailed, PortInUse } from "../../observe/capture/proxy/HttpProxy.ts"
import type { AuthorityFailed } from "../../observe/capture/StaticAuthority.ts"
import { badField } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"

export const certificateView = ({ notAfterMs, notBeforeMs, ...certificate }: Certificate): CertificateView => ({
  ...certificate,
  notBefore: iso(notBeforeMs),
  notAfter: iso(notAfterMs)
})

/** `variable`: where another port is set. */
export const portAnswers = (variable: "INSPECTOR_HTTP_PROXY_PORT" | "MITM_PORT") => ({
  CapturePortInUse: ({ port }: PortInUse) =>
    new Conflict({
      code: "port_in_use",
      message: `Another program listens on port ${port}.`,
      port,
      hint: `Stop that program, or set ${variable} to another port.`
    }),
  CaptureListenFailed: ({ code, port }: ListenFailed) =>
    new Conflict({
      code: "port_not_opened",
      message: `Port ${port} cannot be opened (${code}).`,
      port,
      hint: `Ports below 1024 need the rights of root. ${variable} sets another one.`
    })
})

export const captureAnswers = {
  CaptureAuthorityFailed: ({ problem }: AuthorityFailed) =>
    new Unavailable({ code: "authority_failed", message: problem }),
  HostJournalFailed: ({ problem }: JournalFailed) => new Unavailable({ code: "journal_failed", message: problem })
}

export const hostAnswers = {
  CaptureBadHost: ({ problem }: BadHost) => badField("host", problem),
  CaptureHostKnown: ({ host }: HostKnown) =>
    new Conflict({ code: "host_known", param: "host", message: `${host} is in the list already.` }),
  CaptureTooManyHosts: ({ most }: TooManyHosts) =>
    new Conflict({ code: "too_many_hosts", message: `There are ${most} hosts already; remove one first.` }),
  CaptureHostNotFound: () => new NotFound({ message: "There is no such custom host.", param: "host" })
}

export const proxyNotRunning = (): Conflict =>
  new Conflict({
    code: "proxy_not_running",
    message: "The HTTP proxy does not run, so the desktop is not sent to it.",
    hint: "Start it first: 'gateway capture proxy start'."
  })

export const systemProxyUnsupported = ({ lines, reason }: SystemProxyUnsupported): Conflict =>
  new Conflict({ code: "system_proxy_unsupported", message: reason, hint: lines.join("\n") })

export const trustFailed = ({ problem }: TrustFailed): Conflict =>
  new Conflict({
    code: "trust_failed",
    message: problem,
    hint: "'gateway capture cert show' prints the certificate, so that you can put it into the trust store yourself."
  })

export const badValue = ({ field, problem }: BadValue): BadRequest => badField(field, problem)
