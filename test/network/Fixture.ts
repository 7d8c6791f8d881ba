/** The network of a file of tests. */
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import { openWorld, type World } from "./World.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** For calls that are to fail. */
export const shortTimeoutMs = 1_500
const usualTimeoutMs = 20_000

export const useWorld = (
  prepare: (world: World) => Promise<unknown>,
  connectTimeoutMs = usualTimeoutMs
): (() => World) => {
  let world: World | undefined
  beforeAll(async () => {
    world = await openWorld(root, connectTimeoutMs)
    await prepare(world)
  })
  afterAll(() => world?.close())
  return () => {
    if (world === undefined) throw new Error("The network is not open.")
    return world
  }
}
