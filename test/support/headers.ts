/** Headers as records keep them, from and to clear text: two redacted values are equal to an assertion whatever they hold. */
import * as Redacted from "effect/Redacted"
import type { SecretHeaders } from "../../src/subjects/connections/entity.ts"

export const secretHeaders = (headers: Readonly<Record<string, string>>): SecretHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Redacted.make(value)]))

export const inClear = (headers: SecretHeaders | null | undefined): Readonly<Record<string, string>> | null =>
  headers === null || headers === undefined
    ? null
    : Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Redacted.value(value)]))
