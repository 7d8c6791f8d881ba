/** The commands of the playground. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const presets = group(
  "presets",
  "Named configurations: endpoint, model, system prompt and parameters.",
  [
    command(
      "list",
      "List the presets.",
      () => import("./presets.ts"),
      (m) => m.presetsList,
      { ...list, examples: ["playground presets list"] }
    ),
    command(
      "show",
      "Show a preset.",
      () => import("./presets.ts"),
      (m) => m.presetsShow,
      { aliases: ["get"], examples: ["playground presets show 'Short answers'"] }
    ),
    command(
      "add",
      "Keep a configuration. Its id is printed on stdout.",
      () => import("./presets.ts"),
      (m) => m.presetsAdd,
      {
        ...add,
        examples: [
          "playground presets add 'Short answers' --model auto --system 'In one sentence.'",
          "playground presets add --from-request 0199aa6e"
        ]
      }
    ),
    command(
      "edit",
      "Change a preset.",
      () => import("./presets.ts"),
      (m) => m.presetsEdit,
      {
        aliases: ["update", "set"],
        examples: ["playground presets edit 'Short answers' --params '{\"temperature\":0}'"]
      }
    ),
    command(
      "remove",
      "Remove a preset.",
      () => import("./presets.ts"),
      (m) => m.presetsRemove,
      { ...remove, examples: ["playground presets remove 'Short answers'"] }
    )
  ],
  { examples: ["playground presets list"] }
)

const playground = group(
  "playground",
  "Try models and prompts: side by side, improved, and as code.",
  [
    command(
      "compare",
      "Ask up to four models the same, and show their answers side by side.",
      () => import("./compare.ts"),
      (m) => m.playgroundCompare,
      {
        examples: [
          "playground compare 'Why is the sky blue?' --model openai/gpt-4o-mini --model auto",
          "playground compare - --model fast --model openai/gpt-4o --json < question.txt"
        ]
      }
    ),
    command(
      "improve",
      "Have a model improve a prompt; placeholders are kept.",
      () => import("./improve.ts"),
      (m) => m.playgroundImprove,
      { examples: ["playground improve 'tell {{name}} about the delay' --model auto --tone friendly"] }
    ),
    command(
      "snippet",
      "Print a request as a command or a program.",
      () => import("./improve.ts"),
      (m) => m.playgroundSnippet,
      {
        examples: [
          "playground snippet --model openai/gpt-4o-mini --prompt 'Hello!'",
          "playground snippet --model openai/tts-1 --endpoint speech --language python"
        ]
      }
    ),
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
