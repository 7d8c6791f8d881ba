/** Words of work in the background. */
import { plural } from "./plural.ts"

export const words = {
  list: "Under way",
  jobs: (value: number): string => plural(value, { one: "1 job", other: `${value} jobs` }),
  kinds: {
    backup: "Backup",
    batch: "Batch",
    evaluation: "Evaluation",
    modelList: "Model list",
    install: "Install"
  } as Readonly<Record<string, string>>,
  of: (done: number, total: number): string => `${done} of ${total}`,
  states: {
    running: "under way",
    validating: "its lines are checked",
    in_progress: "under way",
    finalizing: "its results are written",
    cancelling: "is being cancelled"
  } as Readonly<Record<string, string>>
} as const
