/** Getting a key of a gateway elsewhere: with the admin password, or one that was given; and giving it back. */
import * as Cookies from "@effect/platform/Cookies"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { hostname } from "node:os"
import { hasLoginMarker } from "../../kernel/secrets/GatewayKey.ts"
import { isLoopbackHost } from "../../kernel/BindAddress.ts"
import { harmless } from "../../kernel/text/TerminalText.ts"
import { cookieNames } from "../../subjects/auth/entity.ts"
import * as Client from "./Client.ts"
import { AuthRefused, BadArgument, type CliFailure } from "../Failure.ts"
import { gatewayUrl, type Target } from "./Target.ts"
import type { Context } from "./Contexts.ts"

const plainHint = "Use its https:// address, or --insecure on a network you trust."

/** The address to log in to. Without a scheme it is https, and http on this machine. A key is not sent in the open unless `insecure`. */
export const loginUrl = (text: string, insecure: boolean): Effect.Effect<string, BadArgument> => {
  const isBare = !text.includes("://")
  const url = gatewayUrl(isBare ? `https://${text}` : text)
  const parsed = url === null ? null : new URL(url)
  if (url === null || parsed === null || parsed.username !== "" || parsed.search !== "" || parsed.hash !== "") {
    return new BadArgument({
      message: `'${text}' is not the address of a gateway.`,
      hint: "It looks like https://gateway.example, without a user, '?' or '#'."
    })
  }
  const isHere = isLoopbackHost(parsed.hostname.replace(/^\[(.*)\]$/, "$1"))
  const chosen = isBare && isHere ? url.replace("https:", "http:") : url
  if (chosen.startsWith("http:") && !isHere && !insecure) {
    return new BadArgument({
      message: `${chosen} is not encrypted: others on the way could read the key.`,
      hint: plainHint
    })
  }
  // What clients are given as base URL.
  return Effect.succeed(chosen.replace(/\/v1$/, ""))
}

/** Makes the name of a login without a given one: the host, and the port where it is not the usual one. */
export const nameOf = (url: string): string => new URL(url).host

const at = (url: string, apiKey: Redacted.Redacted | null): Target => ({ url, apiKey, namedBy: "url" })

/** Checks whether a gateway answers there at all. */
export const reached = (url: string): Effect.Effect<void, CliFailure> =>
  Effect.flatMap(Client.group(at(url, null), "system"), (system) =>
    Effect.asVoid(system.ping().pipe(Client.orExplain(at(url, null))))
  )

/** A key that was given, after the gateway has said whose it is. */
export const withKey = (url: string, key: Redacted.Redacted): Effect.Effect<Context, CliFailure> =>
  Effect.as(meAt(url, key), { url, key, keyId: null })

const meAt = (url: string, key: Redacted.Redacted) =>
  Effect.flatMap(Client.group(at(url, key), "auth"), (auth) => auth.me().pipe(Client.orExplain(at(url, key))))

/** Says in a sentence what a key may, where that is not everything; null: it manages the gateway. */
export const rightsOf = ({ key, url }: Context): Effect.Effect<string | null, CliFailure> =>
  Effect.map(meAt(url, key), ({ person, principal, tiers }) => {
    if (person !== null && principal.type === "session") {
      return `You may do what the role '${person.role}' opens: see 'gateway me' and 'gateway whoami'. Models are asked with a key of yours ('gateway key list').`
    }
    if (tiers.includes("manage")) return null
    if (person !== null && person.role !== null) {
      return `This key may use models, and do what the role '${person.role}' of ${person.name ?? person.id} opens: see 'gateway whoami'.`
    }
    const own = tiers.includes("self") ? ", and read its own usage: see 'gateway me'" : ""
    return `This key may use models${own}. It does not manage the gateway.`
  })

/** The cookie of an admin session, as it is sent back. */
const cookieIn = (cookies: Cookies.Cookies): string =>
  cookieNames
    .flatMap((name) => Option.toArray(Option.map(Cookies.getValue(cookies, name), (value) => `${name}=${value}`)))
    .join("; ")

const keyName = `gateway command on ${harmless(hostname()).slice(0, 100)}`

/** A new key of scope `manage`, named after this machine. The session for it ends at once. */
export const withPassword = (url: string, password: Redacted.Redacted): Effect.Effect<Context, CliFailure> =>
  Effect.gen(function* () {
    const to = at(url, null)
    const auth = yield* Client.group(to, "auth")
    const [{ csrfToken }, response] = yield* auth.login({ payload: { password }, withResponse: true }).pipe(
      Effect.catchTag("Unauthorized", ({ message }) => new AuthRefused({ message, hint: "Nothing was stored." })),
      Effect.catchIf(
        (error) => !(error instanceof AuthRefused),
        (error) => Client.orExplain(to)(Effect.fail(error))
      )
    )
    const session = { cookie: cookieIn(response.cookies), "x-csrf-token": csrfToken }
    const keys = yield* Client.group(to, "keys", session)
    const made = yield* keys.create({ payload: { name: keyName, scopes: ["manage"] } }).pipe(Client.orExplain(to))
    const own = yield* Client.group(to, "auth", session)
    yield* Effect.ignore(own.logout())
    return { url, key: Redacted.make(made.secret), keyId: made.key.id }
  })

/** Ends the login of a person at the gateway; one that has ended by itself is no failure. */
const endLogin = ({ key, url }: Context): Effect.Effect<void, CliFailure> =>
  Effect.flatMap(Client.group(at(url, key), "auth"), (auth) =>
    auth.logout().pipe(
      Effect.catchTag("Unauthorized", () => Effect.void),
      Effect.asVoid,
      Client.orExplain(at(url, key))
    )
  )

/** Removes the key that a login made, or ends the login of a person. */
export const revokeKey = (context: Context): Effect.Effect<void, CliFailure> => {
  const { key, keyId, url } = context
  if (hasLoginMarker(Redacted.value(key))) return endLogin(context)
  return keyId === null
    ? Effect.void
    : Effect.flatMap(Client.group(at(url, key), "keys"), (keys) =>
        Effect.asVoid(keys.remove({ path: { id: keyId } }).pipe(Client.orExplain(at(url, key))))
      )
}
