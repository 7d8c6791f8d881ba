/** Describes every command of the program. Imported when the skills are asked for. */
import { describeCommands } from "./help/describe.ts"
import { program } from "./program.ts"

export const allCommands = () => describeCommands(program)
