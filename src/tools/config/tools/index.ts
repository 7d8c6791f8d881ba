import type { ToolSetup } from "../ToolSetup.ts"
import { aider } from "./Aider.ts"
import { claude } from "./Claude.ts"
import { cline } from "./Cline.ts"
import { codex } from "./Codex.ts"
import { continueDev } from "./Continue.ts"
import { crush } from "./Crush.ts"
import { cursor } from "./Cursor.ts"
import { droid } from "./Droid.ts"
import { forge } from "./Forge.ts"
import { gemini } from "./Gemini.ts"
import { goose } from "./Goose.ts"
import { kilo } from "./Kilo.ts"
import { openCode } from "./OpenCode.ts"
import { pi } from "./Pi.ts"
import { qwen } from "./Qwen.ts"
import { roo } from "./Roo.ts"

/** In the order in which they are listed. */
export const toolSetups: ReadonlyArray<ToolSetup> = [
  claude,
  codex,
  openCode,
  cline,
  kilo,
  continueDev,
  cursor,
  roo,
  crush,
  goose,
  qwen,
  aider,
  gemini,
  pi,
  droid,
  forge
]
