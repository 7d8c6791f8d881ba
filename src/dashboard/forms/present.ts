/** The object that a form changes, as it is stored: read when the form knows which one it is, and named when it is sent. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Version } from "../ui/merge/saving.ts"
import type { Operation } from "./operations.ts"
import { addressOf, missing, send } from "./send.ts"

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object in an answer that has fields of a body: the answer itself, or the member of it that is the object. */
export const objectIn = (answer: unknown, body: unknown): unknown => {
  if (!isMembers(answer) || !isMembers(body)) return answer
  const names = Object.keys(body)
  const has = (value: unknown): boolean => isMembers(value) && names.some((name) => name in value)
  return has(answer) ? answer : (Object.values(answer).find(has) ?? answer)
}

/** The fields of a value that a body has: only they are sent, and only they can be overwritten. */
export const shapedLike = (value: unknown, body: unknown): unknown =>
  isMembers(value) && isMembers(body)
    ? Object.fromEntries(
        Object.entries(body)
          .filter(([name]) => name in value)
          .map(([name, member]) => [name, shapedLike(value[name], member)])
      )
    : value

/** Address of what an operation changes; null: it shows nothing, or it is not known yet which one. */
const shownAt = (operation: Operation, typed: Readonly<Record<string, string>>): string | null => {
  const { parameters, shownBy } = operation
  if (shownBy === null || missing(parameters, typed).length > 0) return null
  const shown = parameters.filter(({ in: place, name }) => place === "path" || shownBy.includes(name))
  return addressOf({ ...operation, parameters: shown }, typed)
}

export const readPresent = async (url: string): Promise<Version<unknown> | null> => {
  try {
    const { tag, text } = await send("GET", url, null)
    return tag === null ? null : { tag, value: text === null ? null : (JSON.parse(text) as unknown) }
  } catch {
    // What is not there, or may not be seen, the operation itself says.
    return null
  }
}

const settlesMs = 300

/** Present version of what a form changes, from the moment on at which the form knows which one it is. */
export const usePresent = (operation: Operation, typed: Readonly<Record<string, string>>) => {
  const url = shownAt(operation, typed)
  const held = useSignal<{ readonly url: string; readonly version: Version<unknown> | null } | null>(null)
  const read = async (from: string): Promise<Version<unknown> | null> => {
    const version = await readPresent(from)
    held.value = { url: from, version }
    return version
  }
  useEffect(() => {
    if (url === null || held.value?.url === url) return undefined
    const timer = globalThis.setTimeout(() => void read(url), settlesMs)
    return () => globalThis.clearTimeout(timer)
  }, [url])
  return {
    /** Null: not read yet, or there is none. */
    version: held.value !== null && held.value.url === url ? held.value.version : null,
    /** Reads it where that was not done yet. */
    known: async (): Promise<Version<unknown> | null> =>
      url === null ? null : held.value?.url === url ? held.value.version : await read(url),
    /** Another version is there now. */
    put: (version: Version<unknown> | null): void => {
      if (url !== null) held.value = { url, version }
    },
    again: (): void => {
      if (url !== null) void read(url)
    }
  }
}
