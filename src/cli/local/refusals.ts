/** Errors of the management services, worded for the command line. */
import type { ManagementError } from "../../subjects/Errors.ts"
import type { StoreFailure } from "../../store/Errors.ts"
import { BadArgument, CommandFailed } from "../Failure.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** `describe` puts a failure of the store into a sentence. */
export const refusal = (
  error: ManagementError | StoreFailure,
  describe: (failure: StoreFailure) => string
): BadArgument | CommandFailed => {
  switch (error._tag) {
    case "InvalidInput":
    case "SettingsContradict":
      if ("provider" in error && error.provider !== undefined) {
        return new BadArgument({
          message: `The provider '${error.provider}' is not known.`,
          hint: "See 'gateway providers available --search <text>'."
        })
      }
      return new BadArgument({
        message: error.problems.map(({ field, message }) => `${field} ${asSentence(message)}`).join(" ")
      })
    case "EntityNotFound":
    case "StateConflict":
    case "ReadOnly":
    case "RoleExceeded":
    case "QuotaReached":
    case "NotConfigured":
    case "RestoreRefused":
      return new BadArgument({ message: error.message })
    case "RemoteFailed":
    case "OperationFailed":
    case "RestartRefused":
    case "ReadRefused":
      return new CommandFailed({ message: error.message })
    default:
      return new CommandFailed({ message: describe(error) })
  }
}
