/** Kilo Code CLI, which has the configuration of opencode. https://kilo.ai/docs/code-with-ai/platforms/cli */
import { join } from "node:path"
import { firstThere, type ToolSetup } from "../ToolSetup.ts"
import { openCode } from "./OpenCode.ts"

export const kilo: ToolSetup = {
  id: "kilo",
  name: "Kilo Code",
  program: "kilo",
  docsUrl: "https://kilo.ai/docs/code-with-ai/platforms/cli",
  plan: (places, gateway) => {
    const folder = join(places.configHome, "kilo")
    const path = firstThere(
      places,
      join(folder, "kilo.jsonc"),
      join(folder, "kilo.json"),
      join(folder, "opencode.json")
    )
    const { files } = openCode.plan(places, gateway)
    const [file] = files
    const edits = (file?.edits ?? []).filter(({ path: [first] }) => first !== "$schema")
    return {
      files: [{ path, format: "json", edits, keyAt: ["provider", "gateway", "options", "apiKey"] }],
      notes: ["Start 'kilo'. The extension for VS Code keeps its key in the editor: choose 'OpenAI Compatible' there."]
    }
  }
}
