import type { ToolSetup } from "../ToolSetup.ts"
import { aider } from "./Aider.ts"
import { claude } from "./Claude.ts"
import { codex } from "./Codex.ts"
import { continueDev } from "./Continue.ts"
import { crush } from "./Crush.ts"
import { openCode } from "./OpenCode.ts"
import { pi } from "./Pi.ts"
import { simpleTools } from "./Rows.ts"

const own = new Map([claude, codex, openCode, continueDev, crush, aider, pi].map((tool) => [tool.id, tool] as const))

/** Ids in the order in which they are listed. */
const order = "claude codex opencode cline kilo continue cursor roo crush goose qwen aider gemini pi droid forge".split(
  " "
)

export const toolSetups: ReadonlyArray<ToolSetup> = order.flatMap((id) => own.get(id) ?? simpleTools.get(id) ?? [])
