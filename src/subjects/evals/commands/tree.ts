/** The commands about evaluations. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const suite = group(
  "suite",
  "Suites of your own, as JSON files.",
  [
    command(
      "show",
      "Show the cases of a suite; as JSON it is a file for add.",
      () => import("./suites.ts"),
      (m) => m.suiteShow,
      { aliases: ["get"], examples: ["eval suite show golden-set", "eval suite show golden-set --json > mine.json"] }
    ),
    command(
      "add",
      "Add a suite from a file.",
      () => import("./suites.ts"),
      (m) => m.suiteAdd,
      { ...add, examples: ["eval suite add mine.json", "eval suite add -"] }
    ),
    command(
      "edit",
      "Change the name or the cases of a suite.",
      () => import("./suites.ts"),
      (m) => m.suiteEdit,
      { aliases: ["update", "set"], examples: ["eval suite edit Mine mine.json"] }
    ),
    command(
      "remove",
      "Remove a suite; its runs stay.",
      () => import("./suites.ts"),
      (m) => m.suiteRemove,
      { ...remove, examples: ["eval suite remove Mine"] }
    )
  ],
  { aliases: ["suites"], examples: ["eval suite show golden-set", "eval suite add mine.json"] }
)

const evals = group(
  "eval",
  "Ask models known questions, and see which answer them.",
  [
    command(
      "list",
      "List the suites, the last runs and the scores.",
      () => import("./show.ts"),
      (m) => m.evalList,
      { ...list, examples: ["eval list", "eval list --json"] }
    ),
    command(
      "run",
      "Run a suite and wait for its end; exit 1 when it fails.",
      () => import("./run.ts"),
      (m) => m.evalRun,
      {
        examples: [
          "eval run golden-set openai/gpt-4o-mini",
          "eval run coding-proficiency fast --compare openai/gpt-4o",
          "eval run golden-set auto --key ci --min 80"
        ]
      }
    ),
    command(
      "show",
      "Show a run, case by case.",
      () => import("./show.ts"),
      (m) => m.evalShow,
      { aliases: ["get"], examples: ["eval show", "eval show 0199aa6e --json"] }
    ),
    command(
      "cancel",
      "End a run that is under way.",
      () => import("./show.ts"),
      (m) => m.evalCancel,
      { aliases: ["stop"], examples: ["eval cancel last"] }
    ),
    suite
  ],
  {
    // The help of the program fits one screen without it; 'test' names it.
    section: "Watch",
    skill: "cli-eval",
    hidden: true,
    aliases: ["evals"],
    examples: ["eval list", "eval run golden-set openai/gpt-4o-mini"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [evals]
