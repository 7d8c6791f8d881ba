import { CommandFailed } from "../../../cli/Failure.ts"

/** A file of a tool that is refused, as a command says it. */
export const failure = ({ message }: { readonly message: string }): CommandFailed =>
  new CommandFailed({ message, hint: "Nothing was changed." })
