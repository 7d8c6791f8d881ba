/** Prints help as wide as the terminal is, in bold where it may be. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { loadModule } from "../lazy.ts"
import { withOutputFlags } from "../output/Format.ts"
import { Screen } from "../output/Screen.ts"
import type { Found, GroupNode } from "../tree/Tree.ts"
import { mostColumns, type Page } from "./Page.ts"
import { commandHelp, groupHelp, programHelp } from "./render.ts"

const page = Effect.gen(function* () {
  const screen = yield* Screen
  return {
    width: Math.min(screen.columns() ?? mostColumns, mostColumns),
    // Taken out again where colours are not wanted.
    bold: (text) => `\u001b[1m${text}\u001b[0m`
  } satisfies Page
})

export const showHelp = Effect.fn("cli.help")(function* (root: GroupNode, { node, path }: Found) {
  const on = yield* page
  if (node.kind === "group") {
    return yield* Console.log(node === root ? programHelp(root, on) : groupHelp(node, path, on))
  }
  const { shape } = yield* loadModule(node.load)
  yield* Console.log(commandHelp(node, path, node.prints === false ? shape : withOutputFlags(shape), on))
})
