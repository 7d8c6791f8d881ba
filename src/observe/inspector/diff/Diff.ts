/**
 * Compares the bodies of two requests, member by member, and how far their prompts are the same. Paths of removed members are those of the first
 * body, all others those of the second: removals from the last to the first, then additions in order, then replacements make the second body of
 * the first. Takes time linear in the bodies (see `Align`); the answer is bounded. Pure.
 */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"
import { promptOf } from "../prompt/PromptOrder.ts"
import { align } from "./Align.ts"
import { type CommonPrefix, commonPrefix } from "./CommonPrefix.ts"
import { Numbered } from "./Numbered.ts"
import { itemPath, memberPath } from "./Paths.ts"
import { shownPair } from "./Shown.ts"

export interface Change {
  readonly op: "add" | "remove" | "replace"
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

export interface BodyDiff {
  /** Members in another order are a difference: providers cache the bytes. */
  readonly equal: boolean
  /** Changes in reading order, `maxChanges` at most. */
  readonly changes: ReadonlyArray<Change>
  /** Changes that are not in the list. */
  readonly omitted: number
  readonly commonPrefix: CommonPrefix
}

export interface DiffedRequest {
  readonly wire: WireName
  readonly model: string
  readonly body: JsonObject
}

export const maxChanges = 500

class Changes {
  readonly list: Array<Change> = []
  omitted = 0
  readonly #numbers = new Numbered()
  readonly #isOrdered: boolean

  /** `isOrdered`: members in another order are a difference. */
  constructor(isOrdered = true) {
    this.#isOrdered = isOrdered
  }

  isSame(before: Json | undefined, after: Json | undefined): boolean {
    return this.#numbers.of(before) === this.#numbers.of(after)
  }

  compare(before: Json, after: Json, oldPath: string, path: string): void {
    if (this.isSame(before, after)) return
    if (isArray(before) && isArray(after)) this.#lists(before, after, oldPath, path)
    else if (isObject(before) && isObject(after)) this.#objects(before, after, oldPath, path)
    else this.#replace(before, after, path)
  }

  #lists(before: ReadonlyArray<Json>, after: ReadonlyArray<Json>, oldPath: string, path: string): void {
    for (const { now, old } of align(before, after, this.#numbers)) {
      const [oldItem, item] = [old === null ? undefined : before[old], now === null ? undefined : after[now]]
      if (oldItem !== undefined && item !== undefined) {
        this.compare(oldItem, item, itemPath(oldPath, old ?? 0), itemPath(path, now ?? 0))
      } else if (oldItem !== undefined) this.#remove(oldItem, itemPath(oldPath, old ?? 0))
      else if (item !== undefined) this.#add(item, itemPath(path, now ?? 0))
    }
  }

  #objects(before: JsonObject, after: JsonObject, oldPath: string, path: string): void {
    const kept = Object.keys(before).filter((key) => Object.hasOwn(after, key))
    const keptNow = Object.keys(after).filter((key) => Object.hasOwn(before, key))
    // Providers parse a body; only below its members the order is part of what they read.
    if (this.#isOrdered && path !== "" && kept.some((key, at) => key !== keptNow[at]))
      return this.#replace(before, after, path)
    for (const [key, old] of Object.entries(before)) {
      const now = after[key]
      if (old === undefined) continue
      if (now === undefined) this.#remove(old, memberPath(oldPath, key))
      else this.compare(old, now, memberPath(oldPath, key), memberPath(path, key))
    }
    for (const [key, now] of Object.entries(after)) {
      if (now !== undefined && before[key] === undefined) this.#add(now, memberPath(path, key))
    }
  }

  #push(change: () => Change): void {
    if (this.list.length < maxChanges) this.list.push(change())
    else this.omitted += 1
  }

  #add(value: Json, path: string): void {
    this.#push(() => ({ op: "add", path, after: shownPair(undefined, value).after ?? null }))
  }

  #remove(value: Json, path: string): void {
    this.#push(() => ({ op: "remove", path, before: shownPair(value, undefined).before ?? null }))
  }

  #replace(old: Json, now: Json, path: string): void {
    this.#push(() => {
      const { after, before } = shownPair(old, now)
      return { op: "replace", path, before: before ?? null, after: after ?? null }
    })
  }
}

export const diffBodies = (one: DiffedRequest, other: DiffedRequest): BodyDiff => {
  const changes = new Changes()
  changes.compare(one.body, other.body, "", "")
  return {
    equal: changes.list.length === 0,
    changes: changes.list,
    omitted: changes.omitted,
    commonPrefix: commonPrefix(promptOf(one.wire, one.body), promptOf(other.wire, other.body), other.model)
  }
}

/** Compares two values, whatever the order of their members. */
export const diffValues = (one: Json, other: Json): Pick<BodyDiff, "equal" | "changes" | "omitted"> => {
  const changes = new Changes(false)
  changes.compare(one, other, "", "")
  return { equal: changes.list.length === 0, changes: changes.list, omitted: changes.omitted }
}
