/** The file of `apply`: read within a bound, its variables from the environment. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { closeSync, openSync, readSync } from "node:fs"
import type { Document } from "../../../declared/Document.ts"
import { maxFileBytes, readDocument, readYaml } from "../../../declared/ReadFile.ts"
import { variablesOf } from "../../../declared/Variables.ts"
import { BadArgument } from "../../Failure.ts"

const stdin = 0

/** The bytes of a file, or of standard input for `-`; null: there are more than `maxFileBytes`. */
const readBounded = (file: string): Buffer | null => {
  const descriptor = file === "-" ? stdin : openSync(file, "r")
  try {
    const bytes = Buffer.alloc(maxFileBytes + 1)
    let length = 0
    while (length < bytes.length) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null)
      if (read === 0) return bytes.subarray(0, length)
      length += read
    }
    return null
  } finally {
    if (descriptor !== stdin) closeSync(descriptor)
  }
}

const nothingDone = "Nothing was changed."

export const readDeclared = (file: string): Effect.Effect<Document, BadArgument> =>
  Effect.gen(function* () {
    const refused = (problem: string) => new BadArgument({ message: `${file} ${problem}.`, hint: nothingDone })
    const bytes = yield* Effect.try({ try: () => readBounded(file), catch: () => refused("cannot be read") })
    if (bytes === null) return yield* refused(`is larger than ${maxFileBytes} bytes`)
    const value = yield* Effect.mapError(readYaml(bytes.toString("utf8")), refused)
    const variables = new Map<string, string>()
    for (const name of variablesOf(value)) {
      const given = yield* Effect.orElseSucceed(Config.option(Config.string(name)), () => Option.none<string>())
      if (Option.isSome(given) && given.value !== "") variables.set(name, given.value)
    }
    return yield* Effect.mapError(readDocument(value, variables), refused)
  })
