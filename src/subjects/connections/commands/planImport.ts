/** `gateway provider login --import` and `--import-stdin`: a connection out of tokens that a coding program of this user has. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import { SignInAnswer } from "../../oauth/routes.ts"
import { CreateConnection, UpdateConnection } from "../routes.ts"
import {
  type PlanFile,
  type PlanProgram,
  planPrograms,
  type PlanTokens,
  readPlanFile
} from "../../declared/imports/PlanFiles.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"
import { readOwned } from "../../../platform/files/OwnedFile.ts"
import { cleanKey } from "../../../cli/asking/providerKey.ts"
import { readSecret } from "../../../cli/asking/stdin.ts"
import { loadConfig } from "../../../cli/flags/EnvFile.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import type { GatewayFlags } from "../../../cli/gateway/Target.ts"
import * as Output from "../../../cli/output/Output.ts"
import { refuseTaken } from "../../../cli/sameName.ts"

export interface PlanImport extends GatewayFlags {
  /** The proxy its calls go by; undefined: as it is. */
  readonly proxyId: string | undefined
  readonly provider: string
  readonly file: Option.Option<string>
  readonly importStdin: boolean
  readonly clientId: Option.Option<string>
  readonly name: string | undefined
  readonly allowSameName: boolean
}

const maxFileBytes = 262_144

/** Tokens to import, whatever they were read from. */
interface Tokens {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken?: Redacted.Redacted
  readonly expiresAt?: string
  readonly clientId?: string
  readonly clientSecret?: Redacted.Redacted
  readonly headers?: Readonly<Record<string, string>>
}

const Plain = Schema.parseJson(
  Schema.Struct({
    accessToken: Schema.String,
    refreshToken: Schema.optional(Schema.String),
    expiresAt: Schema.optional(Schema.String),
    clientId: Schema.optional(Schema.String),
    clientSecret: Schema.optional(Schema.String)
  })
)

const nameOf = (provider: string): string => planPrograms.get(provider)?.name ?? provider

const known = Array.from(planPrograms.values(), ({ name }) => name).join(", ")

/** The tokens of a program's file, for the provider that is meant. */
const ofFile = Effect.fnUntraced(function* (found: PlanFile, given: PlanImport) {
  const holder = found._tag === "Tokens" ? found.tokens.provider : found.provider
  if (holder !== given.provider) {
    return yield* new BadArgument({
      message: `That is a file of ${nameOf(holder)}, whose account is not one of '${given.provider}'.`,
      hint: `Import it with 'gateway provider login ${holder}'.`
    })
  }
  if (found._tag === "OnlyKey") {
    return yield* new BadArgument({
      message: `${nameOf(holder)} is used with an API key there, not with a plan.`,
      hint: "Add the key: 'gateway provider add openai --api-key-stdin'."
    })
  }
  if (found._tag === "SignedOut") {
    return yield* new BadArgument({
      message: `The file has no tokens: ${nameOf(holder)} is signed out.`,
      hint: `Sign in with ${nameOf(holder)}, then import the file.`
    })
  }
  return yield* usable(found.tokens, Option.getOrUndefined(given.clientId))
})

/**
 * A token that is over is refused: only its program can renew it. The token to renew with is taken for a client that was named only: it
 * works for the client that got it, and providers that change it with each use would sign the program out.
 */
const usable = Effect.fnUntraced(function* (tokens: PlanTokens, clientId: string | undefined) {
  const { accessToken, expiresAtMs, headers, provider, refreshToken } = tokens
  const isRenewed = clientId !== undefined && refreshToken !== null
  const nowMs = yield* Clock.currentTimeMillis
  if (expiresAtMs !== null && expiresAtMs <= nowMs && !isRenewed) {
    return yield* new BadArgument({
      message: `The access token ended at ${new Date(expiresAtMs).toISOString()}.`,
      hint: `Start ${nameOf(provider)} and ask it something, which renews the token; then import it again.`
    })
  }
  return {
    accessToken,
    headers,
    ...(expiresAtMs === null ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
    ...(isRenewed ? { clientId, refreshToken } : {})
  } satisfies Tokens
})

const ofText = Effect.fnUntraced(function* (text: string, given: PlanImport, from: string) {
  const file = readPlanFile(text)
  if (file !== null) return yield* ofFile(file, given)
  if (!text.startsWith("{")) {
    const token = cleanKey(text)
    if (token._tag === "Left") return yield* new BadArgument({ message: `The token ${token.left}.` })
    return { accessToken: Redacted.make(token.right) } satisfies Tokens
  }
  const { accessToken, clientId, clientSecret, expiresAt, refreshToken } = yield* Effect.mapError(
    Schema.decodeUnknown(Plain)(text),
    () =>
      new BadArgument({
        message: `${from} has no tokens that are known here.`,
        hint: `Give the file of one of ${known}, an access token, or JSON with a text "accessToken".`
      })
  )
  return {
    accessToken: Redacted.make(accessToken),
    ...(refreshToken === undefined ? {} : { refreshToken: Redacted.make(refreshToken) }),
    ...(clientSecret === undefined ? {} : { clientSecret: Redacted.make(clientSecret) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(clientId === undefined
      ? Option.match(given.clientId, { onNone: () => ({}), onSome: (flag) => ({ clientId: flag }) })
      : { clientId })
  } satisfies Tokens
})

const placeOf = ({ file, folderVariable }: PlanProgram, environment: ReadonlyMap<string, string>): string => {
  const folder = folderVariable === null ? undefined : environment.get(folderVariable)
  const name = file.slice(file.lastIndexOf("/") + 1)
  return folder !== undefined && isAbsolute(folder)
    ? join(folder, name)
    : join(environment.get("HOME") || homedir(), file)
}

const ofMachine = Effect.fnUntraced(function* (given: PlanImport) {
  const program = planPrograms.get(given.provider)
  if (program === undefined && Option.isNone(given.file)) {
    return yield* new BadArgument({
      message: `No program is known here that keeps tokens of '${given.provider}'.`,
      hint: "Name a file behind --import, or give a token with --import-stdin."
    })
  }
  const { environment } = yield* loadConfig
  const path = Option.getOrElse(given.file, () => (program === undefined ? "" : placeOf(program, environment)))
  const text = yield* Effect.mapError(
    readOwned(path, maxFileBytes),
    ({ isMissing, problem }) =>
      new BadArgument({
        message: `${path} ${asSentence(problem)}`,
        hint:
          isMissing && program !== undefined
            ? `Sign in with ${program.name} on this machine first. Where it keeps its tokens elsewhere, such as in the keychain of macOS, give them with --import-stdin.`
            : "Nothing was stored."
      })
  )
  return yield* ofText(text.trim(), given, path)
})

/** The same sign-in once more gets new tokens, and is no second connection. */
const store = Effect.fnUntraced(function* (given: PlanImport, tokens: Tokens) {
  const to = yield* Client.target(given)
  const client = yield* Client.group(to, "providers")
  const { connections } = yield* client.list().pipe(Client.orExplain(to))
  const name = given.name ?? nameOf(given.provider)
  const same = connections.filter((each) => each.provider === given.provider && each.name === name)
  const before = given.allowSameName ? undefined : same.find(({ authType }) => authType === "oauth")
  if (before === undefined) {
    yield* refuseTaken(same, { what: "connection", name, isAllowed: given.allowSameName, ownId: null })
  }
  const { headers, ...secrets } = tokens
  const oauth = Object.fromEntries(
    Object.entries(secrets).map(([member, value]) => [
      member,
      Redacted.isRedacted(value) ? Redacted.value(value) : value
    ])
  )
  const more = {
    ...(headers === undefined || Object.keys(headers).length === 0 ? {} : { headers }),
    ...(given.proxyId === undefined ? {} : { proxyId: given.proxyId })
  }
  if (before === undefined) {
    const input = { provider: given.provider, name, authType: "oauth", oauth, ...more }
    const payload = yield* body(CreateConnection, input, { name: "--name", oauth: "The token" })
    return yield* client.create({ payload }).pipe(Client.orExplain(to))
  }
  const payload = yield* body(UpdateConnection, { oauth, ...more }, { oauth: "The token" })
  return yield* client.update({ path: { id: before.id }, payload }).pipe(Client.orExplain(to))
})

export const importPlan = Effect.fnUntraced(function* (given: PlanImport) {
  const tokens: Tokens = yield* given.importStdin
    ? Effect.flatMap(readSecret, (text) => ofText(text.trim(), given, "Standard input"))
    : ofMachine(given)
  const { connection } = yield* store(given, tokens)
  const { id, name, provider } = connection
  const end = tokens.expiresAt === undefined ? "" : ` until ${tokens.expiresAt}`
  yield* Output.result({
    schema: SignInAnswer,
    value: { status: "connected" as const, connection: { id, provider, name } },
    text: Output.note(
      tokens.refreshToken === undefined
        ? `The connection '${name}' (${provider}) is signed in${end}. The gateway cannot renew it without an OAuth client of yours (--client-id): import it again then.`
        : `The connection '${name}' (${provider}) is signed in, and the gateway renews it.`
    ),
    name
  })
  yield* Output.note("Whether your plan may be used through a gateway, the provider's terms say (docs/sign-in.md).")
})
