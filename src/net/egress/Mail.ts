/**
 * Sends a message to a mail server that the operator named. The server is guarded like every address that others choose: its name and all of its
 * addresses are judged, and the connection goes to an address that was.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { isIP } from "node:net"
import type { MailSettings } from "../../subjects/webhooks/entity.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { Dns } from "./Dns.ts"
import { type BlockReason, judgeAddress, judgeHost, requestPolicy } from "./OutboundPolicy.ts"

export interface MailServer {
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
}

export interface MailMessage {
  readonly subject: string
  readonly text: string
  /** The same for each try, so that receivers see a repetition: `<id@host>`. */
  readonly messageId: string
}

export class MailFailed extends Data.TaggedError("MailFailed")<{
  readonly kind: "blocked" | "dns" | "connection" | "tls" | "login" | "refused" | "timeout"
  /** Reply code of SMTP; 0 when there was none. */
  readonly status: number
}> {}

export class Mail extends Context.Tag("gateway/net/egress/Mail")<
  Mail,
  {
    /** The reply code of the server that took it. */
    readonly send: (
      server: MailServer,
      settings: MailSettings,
      message: MailMessage,
      timeoutMs: number
    ) => Effect.Effect<number, MailFailed>
    /** Finds the reason for which a server may not be connected to, as far as is known now; null: it may. */
    readonly check: (server: MailServer) => Effect.Effect<BlockReason | null>
  }
>() {}

const okStatus = 250

interface Thrown {
  readonly code?: unknown
  readonly responseCode?: unknown
}

const kinds: Readonly<Record<string, MailFailed["kind"]>> = {
  EAUTH: "login",
  ENOAUTH: "login",
  ETLS: "tls",
  ETIMEDOUT: "timeout",
  EENVELOPE: "refused",
  EMESSAGE: "refused"
}

const failureOf = (error: unknown): MailFailed => {
  const { code, responseCode }: Thrown = typeof error === "object" && error !== null ? error : {}
  const status = typeof responseCode === "number" ? responseCode : 0
  const known = typeof code === "string" ? kinds[code] : undefined
  return new MailFailed({ kind: known ?? (status > 0 ? "refused" : "connection"), status })
}

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const dns = yield* Dns
  const policy = () => requestPolicy(flags.isOn)

  /** The addresses of a server, all of which may be connected to. */
  const addressesOf = (host: string): Effect.Effect<ReadonlyArray<string>, MailFailed> =>
    Effect.gen(function* () {
      const blocked = new MailFailed({ kind: "blocked", status: 0 })
      if (judgeHost(host, policy())._tag === "Blocked") return yield* blocked
      if (isIP(host) !== 0) return [host]
      const found = yield* Effect.tryPromise({
        try: () => dns.resolve(host),
        catch: () => new MailFailed({ kind: "dns", status: 0 })
      })
      return found.some((address) => judgeAddress(address, policy())._tag === "Blocked") ? yield* blocked : found
    })

  const send = Effect.fn("Mail.send")(
    (server: MailServer, settings: MailSettings, message: MailMessage, timeoutMs: number) =>
      Effect.gen(function* () {
        const [address] = yield* addressesOf(server.host)
        if (address === undefined) return yield* new MailFailed({ kind: "dns", status: 0 })
        const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
        const { from, password, tls, to, user } = settings
        const transport = yield* Effect.acquireRelease(
          Effect.sync(() =>
            createTransport({
              host: address,
              port: server.port,
              secure: tls === "implicit",
              requireTLS: tls === "starttls",
              ignoreTLS: tls === "none",
              ...(isIP(server.host) === 0 ? { tls: { servername: server.host } } : {}),
              ...(user === null ? {} : { auth: { user, pass: password === null ? "" : Redacted.value(password) } }),
              connectionTimeout: timeoutMs,
              greetingTimeout: timeoutMs,
              socketTimeout: timeoutMs,
              disableFileAccess: true,
              disableUrlAccess: true
            })
          ),
          (opened) => Effect.sync(() => opened.close())
        )
        yield* Effect.tryPromise({
          try: () => transport.sendMail({ from, to: [...to], ...message }),
          catch: failureOf
        })
        return okStatus
      }).pipe(
        Effect.scoped,
        Effect.timeoutFail({ duration: timeoutMs, onTimeout: () => new MailFailed({ kind: "timeout", status: 0 }) })
      )
  )

  const check = Effect.fn("Mail.check")(({ host }: MailServer) => {
    const verdict = judgeHost(host, policy())
    if (verdict._tag === "Blocked") return Effect.succeed<BlockReason | null>(verdict.reason)
    return addressesOf(host).pipe(
      Effect.timeout("3 seconds"),
      Effect.match({
        // A name that does not resolve now is judged when it is called.
        onFailure: (error): BlockReason | null =>
          error._tag === "MailFailed" && error.kind === "blocked" ? "private" : null,
        onSuccess: () => null
      })
    )
  })
  return Mail.of({ send, check })
})

export const layer: Layer.Layer<Mail, never, Dns | Flags> = Layer.effect(Mail, make)
