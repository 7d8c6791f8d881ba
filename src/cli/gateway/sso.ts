/** Logins of people at a gateway elsewhere: a person allows them in a browser, and this machine gets a credential of the person. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHash, randomBytes } from "node:crypto"
import { hostname } from "node:os"
import { harmless } from "../../kernel/text/TerminalText.ts"
import { findOpener, openAddress } from "../../platform/programs/Browser.ts"
import { maxMachineChars } from "../../subjects/logins/entity.ts"
import type { AskedLogin, BegunLogin } from "../../subjects/logins/routes.ts"
import { AuthRefused, type CliFailure, CommandFailed } from "../Failure.ts"
import { CommonFlags } from "../flags/CommonFlags.ts"
import { loadModule } from "../lazy.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import * as Output from "../output/Output.ts"
import * as Client from "./Client.ts"
import type { Context } from "./Contexts.ts"

const loginsAt = (url: string) => Client.group({ url, apiKey: null, namedBy: "url" }, "logins")
type LoginsClient = Effect.Effect.Success<ReturnType<typeof loginsAt>>

const machine = harmless(hostname()).trim().slice(0, maxMachineChars) || "a machine"

const secretText = (): string => randomBytes(32).toString("base64url")

const explained = (url: string) => Client.orExplain({ url, apiKey: null, namedBy: "url" })

const again = "Begin again with the same command. Nothing was stored."

/** Reasons for which a login is over, for the person. */
const refusals: Readonly<Record<Exclude<AskedLogin["status"], "logged_in">, string>> = {
  pending: "Nobody has answered in the browser in time.",
  slow_down: "Nobody has answered in the browser in time.",
  expired: "The login is over: nobody has allowed it within ten minutes, or it was used.",
  denied: "The login was refused in the browser, or the person may not sign in any more.",
  mismatch: "What the browser has brought back is of another login."
}

/** The login that was given, with a word about whose it is. */
const entered = (url: string, { login, status }: AskedLogin): Effect.Effect<Context, CliFailure> => {
  if (status !== "logged_in" || login === null) {
    const reason = status === "logged_in" ? "expired" : status
    return new AuthRefused({ message: refusals[reason], hint: again })
  }
  const { email, name } = login.person
  return Effect.as(
    Output.note(`Allowed by ${harmless(name)} (${harmless(email)}), until ${Output.shortTime(login.expiresAt)}.`),
    { url, key: Redacted.make(login.token), keyId: null }
  )
}

/** Time in ms until a login ends. */
const remaining = (begun: BegunLogin) =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => Math.max(0, Date.parse(begun.expiresAt) - nowMs))

/** Opens the page in the browser of this machine, or says what to open. */
const opened = Effect.fnUntraced(function* (address: string) {
  const { mayOpen } = yield* CommonFlags
  const { environment } = yield* loadConfig
  const opener = mayOpen ? yield* findOpener(environment, process.platform) : "it was not to be opened"
  if (typeof opener !== "string" && (yield* openAddress(opener, environment, address))) {
    return yield* Output.note("The browser was opened: sign in and allow the login there. Waiting …")
  }
  const reason = typeof opener === "string" ? ` (no browser was opened: ${opener})` : ""
  yield* Output.note(
    `Open this address in a browser of this machine, sign in, and allow the login${reason}:\n\n${address}\n\nWhere this machine has no browser, use --sso --device. Waiting …`
  )
})

const elsewhere = new CommandFailed({
  message: "The browser has come back from another gateway than this command asks.",
  hint: "Check the address: something on the way may lead logins elsewhere. Nothing was stored."
})

const loadReturn = loadModule(() => import("../../entry/listening/LoginReturn.ts"))

const noPort = new CommandFailed({
  message: "No port of this machine can be opened for the browser to come back to.",
  hint: "Use --sso --device: then nothing has to be opened here."
})

/** By a browser of this machine, which comes back with a code that only this command can use. */
export const byBrowser = (url: string) =>
  Effect.gen(function* () {
    const [state, verifier] = [secretText(), secretText()]
    const { waitForBrowser } = yield* loadReturn
    const waiting = yield* Effect.catchTag(waitForBrowser(state), "NoPort", () => noPort)
    const client = yield* loginsAt(url)
    const challenge = createHash("sha256").update(verifier).digest("base64url")
    const begun = yield* client
      .begin({ payload: { way: "browser", machine, back: { port: waiting.port, challenge, state } } })
      .pipe(explained(url))
    yield* opened(`${url}/dashboard/login#request=${begun.code}`)
    const query = yield* waiting.arrived.pipe(
      Effect.timeoutFail({
        duration: yield* remaining(begun),
        onTimeout: () => new AuthRefused({ message: refusals.pending, hint: again })
      })
    )
    // Who stands between could pass the login on to another gateway (RFC 9207).
    if (query.get("iss") !== new URL(url).host) return yield* elsewhere
    const code = query.get("code")
    if (code === null) return yield* new AuthRefused({ message: refusals.denied, hint: again })
    const secret = Redacted.make(begun.secret)
    return yield* entered(
      url,
      yield* client.token({ payload: { secret, proof: { code, verifier } } }).pipe(explained(url))
    )
  }).pipe(Effect.scoped)

/** Failures after which the gateway is asked again: it is busy, restarts, or a program between lost the answer. */
const isPassing = ({ _tag }: CliFailure): boolean =>
  _tag === "RateLimited" || _tag === "ServerOffline" || _tag === "NoAnswerInTime"

/** Polls until the login is allowed, refused or expired, at the interval that the gateway sets. */
const untilAnswered = Effect.fnUntraced(function* (url: string, client: LoginsClient, begun: BegunLogin) {
  const payload = { secret: Redacted.make(begun.secret) }
  let waitMs = begun.intervalMs
  for (;;) {
    yield* Effect.sleep(waitMs)
    const asked = yield* Effect.either(client.token({ payload }).pipe(explained(url)))
    if (asked._tag === "Left" && !isPassing(asked.left)) return yield* asked.left
    if (asked._tag === "Right" && asked.right.intervalMs === null) return asked.right
    waitMs = asked._tag === "Right" ? (asked.right.intervalMs ?? waitMs) : waitMs * 2
    if ((yield* remaining(begun)) === 0) return { status: "expired", intervalMs: null, login: null } as const
  }
})

/** By a code that the person types in any browser, where this machine has none. */
export const byDevice = (url: string) =>
  Effect.gen(function* () {
    const client = yield* loginsAt(url)
    const begun = yield* client.begin({ payload: { way: "device", machine } }).pipe(explained(url))
    yield* Output.note(
      `Open ${url}/dashboard/login in a browser, sign in, and type this code:\n\n    ${harmless(begun.code)}\n\nThe page shows that '${machine}' asks. The code counts for ten minutes: tell it to nobody. Waiting …`
    )
    return yield* entered(url, yield* untilAnswered(url, client, begun))
  })
