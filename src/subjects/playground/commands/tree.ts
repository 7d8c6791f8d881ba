/** The commands of the playground. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromPresets = from(() => import("./presets.ts"))
const fromCompare = from(() => import("./compare.ts"))
const fromImprove = from(() => import("./improve.ts"))

const presets = group(
  "presets",
  "Named configurations: endpoint, model, system prompt and parameters.",
  [
    fromPresets("list", "presetsList", "List the presets.", { ...list, examples: ["playground presets list"] }),
    fromPresets("show", "presetsShow", "Show a preset.", {
      aliases: ["get"],
      examples: ["playground presets show 'Short answers'"]
    }),
    fromPresets("add", "presetsAdd", "Keep a configuration. Its id is printed on stdout.", {
      ...add,
      examples: [
        "playground presets add 'Short answers' --model auto --system 'In one sentence.'",
        "playground presets add --from-request 0199aa6e"
      ]
    }),
    fromPresets("edit", "presetsEdit", "Change a preset.", {
      aliases: ["update", "set"],
      examples: ["playground presets edit 'Short answers' --params '{\"temperature\":0}'"]
    }),
    fromPresets("remove", "presetsRemove", "Remove a preset.", {
      ...remove,
      examples: ["playground presets remove 'Short answers'"]
    })
  ],
  { examples: ["playground presets list"] }
)

const playground = group(
  "playground",
  "Try models and prompts: side by side, improved, and as code.",
  [
    fromCompare(
      "compare",
      "playgroundCompare",
      "Ask up to four models the same, and show their answers side by side.",
      {
        examples: [
          "playground compare 'Why is the sky blue?' --model openai/gpt-4o-mini --model auto",
          "playground compare - --model fast --model openai/gpt-4o --json < question.txt"
        ]
      }
    ),
    fromImprove("improve", "playgroundImprove", "Have a model improve a prompt; placeholders are kept.", {
      examples: ["playground improve 'tell {{name}} about the delay' --model auto --tone friendly"]
    }),
    fromImprove("snippet", "playgroundSnippet", "Print a request as a command or a program.", {
      examples: [
        "playground snippet --model openai/gpt-4o-mini --prompt 'Hello!'",
        "playground snippet --model openai/tts-1 --endpoint speech --language python"
      ]
    }),
    presets
  ],
  {
    // The help of the program fits one screen without it; 'chat' names it.
    section: "Use",
    skill: "cli-chat",
    hidden: true,
    examples: ["playground compare 'Why is the sky blue?' --model openai/gpt-4o-mini --model auto"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [playground]
