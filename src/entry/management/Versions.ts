/**
 * Versions of what is at a path of the management, as entity tags. The tag of what can be edited is made of what an editor edits: fields that the
 * gateway observes are left out (`kernel/Observed`). That of any other answer is made of its bytes. Long lists are read and hashed in slices.
 */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { madeGroup } from "../../contract/GroupContract.ts"
import { type ManagementKey, type ManagementRoute, managementTable } from "../../contract/ManagementRoutes.ts"
import { type ObservedFields, observedFields, partsWithoutObserved, withoutObserved } from "../../kernel/Observed.ts"
import { queryNames } from "./KnownQueries.ts"
import type { Slices } from "../../plane/resilience/Slices.ts"
import { readForeignBody, slicedFromBytes } from "../../wire/json/LargeBodies.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { namesStrongly, namesWeakly, tagCondition } from "../../kernel/text/EntityTags.ts"

/** Shows the object that a route changes, where another path does. */
const shownElsewhere: Readonly<Partial<Record<ManagementKey, ManagementKey>>> = {
  "inspector.annotate": "inspector.get",
  "capture.enableHost": "capture.hosts",
  "capture.removeHost": "capture.hosts"
}

/** Changes by POST, of what GET shows at the same path. */
export const changesByPost: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "limits.setBudget",
  "limits.setTokenLimit",
  "modelAliases.set"
])

/** Changes by POST, at a path below the object's, that wait for its other changes. */
const changesBelow: ReadonlySet<ManagementKey> = new Set<ManagementKey>(["keys.rotate", "registeredKeys.revoke"])

/** Tells whether a route waits for the other changes of the object of its path. */
export const takesTurn = ({ key, method }: Pick<ManagementRoute, "key" | "method">): boolean =>
  isChange({ key, method }) || changesBelow.has(key)

const changing: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"])

/** Tells whether a route changes what is at a path, so that its changes are made one after the other. */
export const isChange = ({ key, method }: Pick<ManagementRoute, "key" | "method">): boolean =>
  changing.has(method) || changesByPost.has(key)

const keysOfPath = new Map<string, Array<ManagementKey>>()
for (const [key, { path }] of Object.entries(managementTable)) {
  const known = keysOfPath.get(path)
  if (known === undefined) keysOfPath.set(path, [key as ManagementKey])
  else known.push(key as ManagementKey)
}

const atPathOf = (key: ManagementKey): ReadonlyArray<ManagementKey> => keysOfPath.get(managementTable[key].path) ?? []

/** The route that shows what a route changes; null: none does. */
export const shownBy = (key: ManagementKey): ManagementKey | null =>
  shownElsewhere[key] ?? atPathOf(key).find((other) => managementTable[other].method === "GET") ?? null

const edited = new Set<ManagementKey>(
  (Object.keys(managementTable) as Array<ManagementKey>).flatMap((key) =>
    isChange({ key, method: managementTable[key].method }) ? (shownBy(key) ?? []) : []
  )
)

/** Tells whether what a route shows can be changed by another. */
export const isEdited = (key: ManagementKey): boolean => edited.has(key)

const observedByKey = new Map<ManagementKey, ObservedFields>()

const observedOf = (key: ManagementKey): ObservedFields => {
  const known = observedByKey.get(key)
  if (known !== undefined) return known
  const [group = "", name = ""] = key.split(".")
  const schema = madeGroup(group)?.endpoints[name]?.successSchema
  if (schema === undefined) return {}
  const fields = observedFields(schema)
  observedByKey.set(key, fields)
  return fields
}

/** The part of a query that says which object is shown: a change may name in its own what the other does not know, and no page. */
export const queryFor = <Value>(
  key: ManagementKey,
  query: Readonly<Record<string, Value>>
): Readonly<Record<string, Value>> => {
  const names = queryNames(key)
  return Object.fromEntries(Object.entries(query).filter(([each]) => names?.includes(each) === true))
}

type Sliced = typeof Slices.Service

const hashedBytes = 262_144

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += hashedBytes) yield bytes.subarray(at, at + hashedBytes)
}

const digest = Effect.fnUntraced(function* ({ each }: Sliced, pieces: Iterable<string | Uint8Array>) {
  const hash = createHash("sha256")
  yield* each(pieces, (piece) => void hash.update(piece))
  return hash.digest("base64url").slice(0, 22)
})

/** The bytes of an answer that is whole; null for streams, and for an answer without a body. */
export const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Uint8Array | null =>
  body._tag === "Uint8Array" ? body.body : null

const isJson = ({ body }: HttpServerResponse.HttpServerResponse): boolean =>
  body._tag === "Uint8Array" && body.contentType.startsWith("application/json")

/** Reads the JSON of an answer; a long one in slices. */
export const jsonIn = ({ whenRead }: Sliced, bytes: Uint8Array): Effect.Effect<unknown> =>
  bytes.length < slicedFromBytes
    ? Effect.sync(() => JSON.parse(Buffer.from(bytes).toString("utf8")))
    : Effect.async((resume) => {
        const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        whenRead(body, () => resume(Effect.sync(() => readForeignBody(body))))
      })

/** The part of an answer that an editor changes. */
export const editedOf = (key: ManagementKey, body: unknown): unknown => withoutObserved(body, observedOf(key))

function* textsOf(value: unknown, observed: ObservedFields): Generator<string> {
  for (const part of partsWithoutObserved(value, observed)) yield `${JSON.stringify(part)}\n`
}

/** The tag of what a GET route answered; null where it answered with a stream. */
export const tagOf = Effect.fnUntraced(function* (
  slices: Sliced,
  key: ManagementKey,
  response: HttpServerResponse.HttpServerResponse
) {
  const bytes = bytesOf(response)
  if (bytes === null) return null
  const observed = isEdited(key) && isJson(response) ? observedOf(key) : {}
  const isWhole = Object.keys(observed).length === 0
  const pieces = isWhole ? piecesOf(bytes) : textsOf(yield* jsonIn(slices, bytes), observed)
  return `"${yield* digest(slices, pieces)}"`
})

/** A representation in another coding has a tag of its own (RFC 9110, 8.8.3.3); it names the same version. */
const codings = /\+(?:gzip|br)"$/

export const codedTag = (tag: string, coding: string): string => tag.replace(/"$/, `+${coding}"`)

const plain = (condition: ReturnType<typeof tagCondition>) =>
  condition === null || condition === "*" ? condition : condition.map((tag) => tag.replace(codings, '"'))

/** Tells whether the version is one that `If-Match` names; null: the header cannot be read. */
export const isNamed = (header: string, tag: string): boolean | null => {
  const condition = plain(tagCondition(header))
  return condition === null ? null : namesStrongly(condition, tag)
}

/** Tells whether `If-None-Match` names the version, also weakly. */
export const isKnown = (header: string, tag: string): boolean => {
  const condition = plain(tagCondition(header))
  return condition !== null && namesWeakly(condition, tag)
}

const several = Symbol("several")

/**
 * Remembers what was sent under the tags of objects with observed fields: only where all of it was the same bytes as now does the client know what it would
 * get. It forgets what was sent longest ago; then the answer is sent again.
 */
export class SentVersions {
  readonly #sent = new LruMap<string, string | typeof several>({ capacity: 4_096 })

  /** Tells whether who has the tag has these bytes, and notes that they are sent under it. */
  isAsSent(slices: Sliced, key: ManagementKey, tag: string, bytes: Uint8Array): Effect.Effect<boolean> {
    if (!isEdited(key) || Object.keys(observedOf(key)).length === 0) return Effect.succeed(true)
    return Effect.map(digest(slices, piecesOf(bytes)), (now) => {
      const before = this.#sent.get(tag)
      if (before === undefined) this.#sent.set(tag, now)
      else if (before !== now) this.#sent.set(tag, several)
      return before === now
    })
  }
}
