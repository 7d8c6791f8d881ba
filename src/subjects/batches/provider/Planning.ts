/**
 * Decides which batches can be handed to a provider: the file for it, and the reservations of its lines from the limits
 * of their key.
 */
import type { ModelPrice } from "../../pricing/entity.ts"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { open, rm } from "node:fs/promises"
import type { ApiKeys } from "../../auth/ApiKeys.ts"
import type { Batch } from "../entity.ts"
import type { Files } from "../../files/service.ts"
import type { ProviderLines } from "../../../plane/ProviderLines.ts"
import type { Commitment, NotReserved } from "../../../plane/ledger/Commitment.ts"
import { Later, settled } from "../../../kernel/Later.ts"
import { hasRates, Reservation } from "../../../plane/ledger/KeyAccount.ts"
import type { KeyLimits } from "../../../plane/ledger/KeyLimits.ts"
import type { Account } from "../../../plane/providers/Catalog.ts"
import { StoreError } from "../../../store/Errors.ts"
import type { Endpoint } from "../Endpoints.ts"
import { eachLine, type Unworkable } from "../InputLines.ts"
import { principalOf } from "../LinePrincipal.ts"
import type { LineSpool } from "../LineSpool.ts"
import { uploadLine } from "./Shapes.ts"

/** https://platform.openai.com/docs/api-reference/batch/create: of a file. */
const maxUploadBytes = 200 * 1_048_576
const chunkBytes = 262_144

/** Endpoints of OpenAI's batches, among those of the gateway's own; answers of the others do not report tokens. */
const handedOver: ReadonlySet<string> = new Set([
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/moderations",
  "/v1/responses"
])

/** Models of one batch whose prices are kept with it. */
const mostPrices = 64

export interface Plan {
  readonly account: Account
  /** Null: the key has no limits. */
  readonly commitment: Commitment | null
  /** Numbers of lines that are over a limit of the key: they are not in the file. */
  readonly beyond: ReadonlySet<number>
  /** Prices of its models, by their names at the provider. */
  readonly prices: Readonly<Record<string, ModelPrice>>
}

export interface Planned {
  readonly batch: Batch
  readonly endpoint: Endpoint
  readonly spool: LineSpool
  /** Path of the file to write; null: the provider has it already, and only its reservation is wanted. */
  readonly path: string | null
  /** Connection that the lines have to go to; null: whichever they all go to. */
  readonly connectionId: string | null
}

interface Services {
  readonly files: typeof Files.Service
  readonly keys: typeof ApiKeys.Service
  readonly limits: typeof KeyLimits.Service
  readonly lines: typeof ProviderLines.Service
  readonly rest: Effect.Effect<void>
  readonly hasBatches: (account: Account) => boolean
}

class NotForProvider {
  readonly _tag = "NotForProvider"
}
const notForProvider = new NotForProvider()

const onDisk = <A>(run: () => Promise<A>): Effect.Effect<A, StoreError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StoreError({ operation: "Planning.write", cause }) })

/** Writes in chunks; the file is removed with the scope. */
const writerAt = (
  path: string | null
): Effect.Effect<
  { readonly put: (line: Buffer) => Effect.Effect<void, StoreError>; readonly flush: Effect.Effect<void, StoreError> },
  StoreError,
  Scope
> =>
  Effect.gen(function* () {
    if (path === null) return { put: () => Effect.void, flush: Effect.void }
    yield* Effect.addFinalizer(() => Effect.promise(() => rm(path, { force: true })))
    const file = yield* Effect.acquireRelease(
      onDisk(() => open(path, "w", 0o600)),
      (opened) => Effect.promise(() => opened.close())
    )
    let chunk: Array<Buffer> = []
    let bytes = 0
    const flush = Effect.suspend(() => {
      const all = Buffer.concat(chunk)
      chunk = []
      bytes = 0
      return Effect.asVoid(onDisk(() => file.writeFile(all)))
    })
    const put = (line: Buffer) =>
      Effect.suspend(() => {
        chunk.push(line)
        bytes += line.length
        return bytes >= chunkBytes ? flush : Effect.void
      })
    return { put, flush }
  })

/** Null: the gateway has to ask the lines itself. */
export const planFor = (
  { files, hasBatches, keys, limits, lines, rest }: Services,
  { batch, connectionId, endpoint, path, spool }: Planned
): Effect.Effect<Plan | null, StoreError | Unworkable, Scope> =>
  Effect.gen(function* () {
    if (!handedOver.has(endpoint.path)) return null
    const nowMs = yield* Clock.currentTimeMillis
    const principal = principalOf(keys, batch, endpoint, nowMs)
    if (typeof principal === "string") return null
    // Nothing holds a provider to the rates of a key: the gateway asks such lines itself, in their turn.
    if (path !== null && principal._tag === "Key" && hasRates(principal.key)) return null
    const isPromised = path === null
    const receivedMs = batch.inProgressAtMs ?? nowMs
    const asking = { requestId: batch.id, receivedMs, sessionId: null, isCountedBefore: true, isPromised }
    const commitment = principal._tag === "Key" ? yield* settled(limits.admit(principal.key, asking)) : null
    if (commitment instanceof Error) return null
    let account: Account | null = null
    let bytes = 0
    const beyond = new Set<number>()
    const prices = new Map<string, ModelPrice>()
    const writer = yield* writerAt(path)
    const { codec, wire } = endpoint
    const add = (number: number, body: Parameters<typeof lines.of>[0]["body"]) =>
      Effect.suspend((): Effect.Effect<void, NotForProvider | StoreError> => {
        const request = { principal, path: endpoint.path, body, format: { wire, codec }, batchId: batch.id }
        const line = lines.of(request, account?.connection.id ?? connectionId)
        if (line === null || (account === null && !hasBatches(line.account))) return Effect.fail(notForProvider)
        account = line.account
        const { price } = line.estimate
        if (price !== null && prices.size < mostPrices) prices.set(line.model, price)
        const target = { provider: account.spec.id, connectionId: account.connection.id, model: line.model }
        const put = (reserved: Reservation | NotReserved | null): Effect.Effect<void, NotForProvider | StoreError> => {
          if (reserved !== null && !(reserved instanceof Reservation)) {
            beyond.add(number)
            return Effect.void
          }
          const written = uploadLine(number, endpoint.path, line.body)
          bytes += written.length
          return bytes > maxUploadBytes ? Effect.fail(notForProvider) : writer.put(written)
        }
        const reserved = commitment === null ? null : commitment.reserve(target, line.estimate, nowMs)
        return reserved instanceof Later ? Effect.flatMap(settled(reserved), put) : put(reserved)
      })
    const leave = Effect.sync(() => commitment?.leave())
    return yield* eachLine(files, batch, rest, (number, line) =>
      line._tag === "Broken" || spool.has(number) ? Effect.void : add(number, line.body)
    ).pipe(
      Effect.zipRight(writer.flush),
      Effect.onError(() => leave),
      Effect.map(() =>
        account === null || bytes === 0 ? null : { account, commitment, beyond, prices: Object.fromEntries(prices) }
      ),
      Effect.tap((plan) => (plan === null ? leave : Effect.void)),
      Effect.catchTag("NotForProvider", () => Effect.succeed(null))
    )
  })
