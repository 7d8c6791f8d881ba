/** Opens the dashboard of a gateway in the browser of the person, with a code for a session where this machine's owner asks. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import { type NoBrowser, findOpener, openAddress } from "../../platform/programs/Browser.ts"
import { CommandFailed } from "../Failure.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import * as Client from "./Client.ts"
import * as NodeHttp from "./NodeHttp.ts"
import * as Output from "../output/Output.ts"

export interface Opened {
  /** Address of the dashboard; with the code where nothing was opened, so that the person can do it. */
  readonly url: string
  /** True: a browser was started with it. */
  readonly opened: boolean
  /** Reason for which not; null: it was opened. */
  readonly reason: string | null
  /** Time at which the code of the address ends, ISO 8601; null: there is none, and the page asks for the password. */
  readonly expiresAt: string | null
}

/** Checks whether a gateway has a dashboard: a page is there, and no error. */
export const hasDashboard = (to: Client.Target) =>
  HttpClient.withTracerPropagation(NodeHttp.client, false)
    .get(`${to.url}/dashboard/`, { headers: { accept: "text/html" } })
    .pipe(
      Effect.flatMap(({ headers, status, text }) =>
        Effect.as(text, status === 200 && (headers["content-type"] ?? "").startsWith("text/html"))
      ),
      Effect.scoped,
      Client.orExplain(to)
    )

const noDashboard = (to: Client.Target) =>
  new CommandFailed({
    message: `The gateway at ${to.url} has no dashboard: it is not in its build.`,
    hint: "The commands do what it would: 'gateway --help'. 'gateway setup' sets the admin password."
  })

/** A code for a session, where the owner's token says that this is the owner; null elsewhere. */
const codeFor = (to: Client.Target) => {
  const owner = Client.asOwner(to)
  if (owner.namedBy !== "owner") return Effect.succeed(null)
  return Effect.flatMap(Client.group(owner, "auth"), (auth) => auth.issueCode()).pipe(Client.orExplain(to))
}

const notAsked = "it was not to be opened" as const

/** Opens it, or gives the address to open; `mayOpen` false: no browser is started. Fails where the gateway has no dashboard. */
export const openDashboard = Effect.fn("cli.openDashboard")(function* (to: Client.Target, mayOpen: boolean) {
  if (!(yield* hasDashboard(to))) return yield* noDashboard(to)
  const { environment } = yield* loadConfig
  const opener = mayOpen ? yield* findOpener(environment, process.platform) : notAsked
  const code = yield* codeFor(to)
  const url = `${to.url}/dashboard/`
  const address = code === null ? url : `${url}#code=${code.code}`
  const expiresAt = code?.expiresAt ?? null
  const unopened = (reason: NoBrowser | typeof notAsked | "the browser could not be started"): Opened => ({
    url: address,
    opened: false,
    reason,
    expiresAt
  })
  if (typeof opener === "string") return unopened(opener)
  if (!(yield* openAddress(opener, environment, address))) return unopened("the browser could not be started")
  return { url, opened: true, reason: null, expiresAt } satisfies Opened
})

/**
 * Opens the dashboard of the gateway that has just started here, and says where it is. What stands in the way is no matter of the start; a build
 * without a dashboard says nothing.
 */
export const openAtStart = Effect.gen(function* () {
  const to = yield* Client.target(Client.here)
  if (!(yield* hasDashboard(to))) return
  const { environment } = yield* loadConfig
  const opener = yield* findOpener(environment, process.platform)
  const page = `${to.url}/dashboard/`
  // A code counts for a minute: none is made where there is no page for it.
  if (typeof opener === "string") return yield* Output.note(`Dashboard: ${page} ('gateway open' signs you in)`)
  const { opened } = yield* openDashboard(to, true)
  yield* Output.note(opened ? `Dashboard: ${page} (opened in the browser)` : `Dashboard: ${page}`)
})
