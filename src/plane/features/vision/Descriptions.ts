/** Descriptions of pictures by a model: asked for by requests of the gateway's own in the caller's name, and remembered for a day. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import { makeLane } from "../../../kernel/Lane.ts"
import type { Principal } from "../../../subjects/keys/entity.ts"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import type { VisionBridgeSettings } from "../../../subjects/settings/entity/VisionBridgeSettings.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { chat } from "../../../wire/chat/Codec.ts"
import { isObject, parseJson } from "../../../wire/json/Json.ts"
import type { InnerRequests } from "../../InnerRequests.ts"

/** Path shown in the log line of such a request. */
export const visionPath = "/vision-bridge"

/** Descriptions that are remembered, their bytes, and for how long. */
const capacity = 5_000
const maxBytes = 16 * 1_048_576
const ttlMs = 24 * 60 * 60_000
/** Descriptions of one request asked for at the same time, and of all requests. */
const atOnce = 4
const atOnceInAll = 32
/** A picture of 20 MiB in base64. A larger one is not described. */
const maxUrlChars = 28 * 1_048_576
/** The rest of a longer description is left out. */
const maxDescriptionChars = 8_000

export interface Asking {
  readonly principal: Principal
  readonly settings: VisionBridgeSettings & { readonly model: string }
  /** Hash of everything that distinguishes one caller's pictures from another's. */
  readonly owner: string
  /** Memory for the descriptions: see `memoryFor`. */
  readonly memory: DescriptionMemory
}

export type DescriptionMemory = LruMap<string, string>

export interface Descriptions {
  /** Computes the key of a picture's description; null for one that cannot be described. */
  readonly keyOf: (asking: Asking, url: string | null) => string | null
  /**
   * Returns the memory of all requests of callers whose content may be stored, or one of the request alone for the
   * others.
   */
  readonly memoryFor: (permission: ContentPermission | null) => DescriptionMemory
  /** Hot. Null: it is not known. */
  readonly known: (memory: DescriptionMemory, key: string, nowMs: number) => string | null
  /** Asks for them, by their keys. Those of which something came are known then. */
  readonly ask: (asking: Asking, urls: ReadonlyMap<string, string>) => Effect.Effect<void>
}

const textOf = (body: string): string | null => {
  const parsed = parseJson(body)
  if (!isObject(parsed)) return null
  const response = chat.decodeResponse(parsed)
  if (Either.isLeft(response)) return null
  const text = response.right.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
  // A cut must not leave half of a pair.
  const cut = text
    .trim()
    .slice(0, maxDescriptionChars)
    .replace(/[\ud800-\udbff]$/, "")
    .trim()
  return cut === "" ? null : cut
}

const question = ({ settings: { model, prompt } }: Asking, url: string) => ({
  model,
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: prompt },
        { type: "image_url", image_url: { url } }
      ]
    }
  ]
})

export const makeDescriptions = (
  inner: Pick<typeof InnerRequests.Service, "ask">,
  nowMs: () => number
): Descriptions => {
  const places = makeLane(atOnceInAll)
  const emptyMemory = (): DescriptionMemory =>
    new LruMap({ capacity, maxWeight: maxBytes, weightOf: (text) => 512 + 2 * text.length, ttlMs })
  const shared = emptyMemory()

  const describe = (asking: Asking, url: string): Effect.Effect<string | null> =>
    inner
      .ask({ behalf: { principal: asking.principal, madeFor: "aside" }, path: visionPath, body: question(asking, url) })
      .pipe(
        Effect.map(({ body, status }) => (status === 200 ? textOf(body) : null)),
        places.inTurn,
        Effect.timeoutOption(asking.settings.timeoutMs),
        Effect.map(Option.getOrNull),
        Effect.catchAllCause((cause) =>
          Cause.isInterrupted(cause)
            ? Effect.interrupt
            : Effect.as(Effect.logError("The description of a picture died", cause), null)
        )
      )

  /** Pictures that are being described; false: given up, because the request that asked was. At most as many as requests that run. */
  const underWay = new Map<string, Deferred.Deferred<boolean>>()

  const own = (asking: Asking, key: string, url: string): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) => {
      const over = Deferred.unsafeMake<boolean>(FiberId.none)
      underWay.set(key, over)
      return restore(describe(asking, url)).pipe(
        Effect.map((text) => {
          if (text !== null) asking.memory.set(key, text, nowMs())
        }),
        Effect.onExit((exit) =>
          Effect.suspend(() => {
            underWay.delete(key)
            return Deferred.succeed(over, Exit.isSuccess(exit))
          })
        )
      )
    })

  /** Two requests with one new picture ask once. */
  const once = (asking: Asking, key: string, url: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      // What may not be kept is not shared either.
      if (asking.memory !== shared) {
        return Effect.map(describe(asking, url), (text) => {
          if (text !== null) asking.memory.set(key, text, nowMs())
        })
      }
      const running = underWay.get(key)
      return running === undefined
        ? own(asking, key, url)
        : Effect.flatMap(Deferred.await(running), (isOver) => (isOver ? Effect.void : once(asking, key, url)))
    })

  return {
    keyOf: ({ owner, settings: { model, prompt } }, url) =>
      url === null || url.length > maxUrlChars
        ? null
        : createHash("sha256")
            .update(JSON.stringify([owner, model, prompt]))
            .update(url)
            .digest("base64url"),
    memoryFor: (permission) => (permission === null ? emptyMemory() : shared),
    known: (memory, key, now) => memory.get(key, now) ?? null,
    ask: (asking, urls) =>
      Effect.forEach(urls, ([key, url]) => once(asking, key, url), { concurrency: atOnce, discard: true })
  }
}
