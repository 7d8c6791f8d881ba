/**
 * Before and after each test file, in a process that other files have used and will use. `it` of @effect/vitest is one object, and `layer` writes
 * methods into it that provide its own layer: without this, `it.effect` of a later file would run in the layer of an earlier one. Variables,
 * methods of others and the working folder that a file has set are of that file. Properties draw from one seed, so that a run says the same twice;
 * `PROPERTY_SEED=7` is another one, `PROPERTY_SEED=random` a new one for each property, which a failure prints.
 */
import { it, makeMethods } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { fileURLToPath } from "node:url"
import { isMainThread } from "node:worker_threads"
import { afterAll, vi } from "vitest"
import { endFile } from "./ends.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

makeMethods(it)

const seed = process.env["PROPERTY_SEED"] ?? "1"
FastCheck.configureGlobal(seed === "random" ? {} : { seed: Number(seed) })

afterAll(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  // A thread cannot change it.
  if (isMainThread) process.chdir(root)
  return endFile()
})
