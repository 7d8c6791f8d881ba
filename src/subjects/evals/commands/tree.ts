/** The commands about evaluations. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromSuites = from(() => import("./suites.ts"))
const fromShow = from(() => import("./show.ts"))
const fromRun = from(() => import("./run.ts"))

const suite = group(
  "suite",
  "Suites of your own, as JSON files.",
  [
    fromSuites("show", "suiteShow", "Show the cases of a suite; as JSON it is a file for add.", {
      aliases: ["get"],
      examples: ["eval suite show golden-set", "eval suite show golden-set --json > mine.json"]
    }),
    fromSuites("add", "suiteAdd", "Add a suite from a file.", {
      ...add,
      examples: ["eval suite add mine.json", "eval suite add -"]
    }),
    fromSuites("edit", "suiteEdit", "Change the name or the cases of a suite.", {
      aliases: ["update", "set"],
      examples: ["eval suite edit Mine mine.json"]
    }),
    fromSuites("remove", "suiteRemove", "Remove a suite; its runs stay.", {
      ...remove,
      examples: ["eval suite remove Mine"]
    })
  ],
  { aliases: ["suites"], examples: ["eval suite show golden-set", "eval suite add mine.json"] }
)

const evals = group(
  "eval",
  "Ask models known questions, and see which answer them.",
  [
    fromShow("list", "evalList", "List the suites, the last runs and the scores.", {
      ...list,
      examples: ["eval list", "eval list --json"]
    }),
    fromRun("run", "evalRun", "Run a suite and wait for its end; exit 1 when it fails.", {
      examples: [
        "eval run golden-set openai/gpt-4o-mini",
        "eval run coding-proficiency fast --compare openai/gpt-4o",
        "eval run golden-set auto --key ci --min 80"
      ]
    }),
    fromShow("show", "evalShow", "Show a run, case by case.", {
      aliases: ["get"],
      examples: ["eval show", "eval show 0199aa6e --json"]
    }),
    fromShow("cancel", "evalCancel", "End a run that is under way.", {
      aliases: ["stop"],
      examples: ["eval cancel last"]
    }),
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
