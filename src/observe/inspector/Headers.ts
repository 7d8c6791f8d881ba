/** Headers as they are captured, and as they are in records. Pure. */
import type { RecordHeaders } from "../../contract/domain/TrafficRecord.ts"

/** Header names and values in turn, as `rawHeaders` of node:http, or by name. */
export type HeaderInput = ReadonlyArray<string> | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const maxHeaderChars = 65_536

const isRaw = (input: HeaderInput): input is ReadonlyArray<string> => Array.isArray(input)

export const readHeaders = (input: HeaderInput): RecordHeaders => {
  const headers = new Map<string, string>()
  let chars = 0
  const add = (name: string, value: string): void => {
    chars += name.length + value.length
    if (chars > maxHeaderChars) return
    const key = name.toLowerCase()
    const known = headers.get(key)
    headers.set(
      key,
      known === undefined ? value : `${known}${key === "set-cookie" ? "\n" : key === "cookie" ? "; " : ", "}${value}`
    )
  }
  if (isRaw(input)) {
    for (let at = 0; at + 1 < input.length; at += 2) add(input[at] ?? "", input[at + 1] ?? "")
  } else {
    for (const [name, value] of Object.entries(input)) {
      if (typeof value === "string") add(name, value)
      else for (const each of value ?? []) add(name, each)
    }
  }
  return Object.fromEntries(headers)
}
