/** The flags and arguments of a command, read from what the command-line library knows of it. */
import * as CliConfig from "@effect/cli/CliConfig"
import type * as Command from "@effect/cli/Command"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import type * as HelpDoc from "@effect/cli/HelpDoc"
import type * as Span from "@effect/cli/HelpDoc/Span"
import type * as Usage from "@effect/cli/Usage"
import * as Option from "effect/Option"

interface Word {
  readonly description: string
  /** Values that may be given; empty when it is free. */
  readonly choices: ReadonlyArray<string>
  readonly required: boolean
  readonly repeated: boolean
}

export interface FlagShape extends Word {
  /** Name with its dashes. */
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  /** Placeholder of the value in help; null when the flag takes none. */
  readonly value: string | null
}

export interface ArgumentShape extends Word {
  readonly name: string
}

export interface Shape {
  readonly flags: ReadonlyArray<FlagShape>
  readonly args: ReadonlyArray<ArgumentShape>
}

export const noShape: Shape = { flags: [], args: [] }

const textOf = (span: Span.Span): string => {
  switch (span._tag) {
    case "Text":
    case "URI":
      return span.value
    case "Sequence":
      return textOf(span.left) + textOf(span.right)
    default:
      return textOf(span.value)
  }
}

/** The text of each paragraph. */
export const paragraphs = (doc: HelpDoc.HelpDoc): ReadonlyArray<string> => {
  switch (doc._tag) {
    case "Paragraph":
      return [textOf(doc.value)]
    case "Sequence":
      return [...paragraphs(doc.left), ...paragraphs(doc.right)]
    case "Enumeration":
      return doc.elements.flatMap(paragraphs)
    default:
      return []
  }
}

interface Described {
  readonly description: string
  /** True when it may be given any number of times, also not at all. */
  readonly anyNumber: boolean
}

const notDescribed: Described = { description: "", anyNumber: false }

/** The descriptions of flags and arguments in the order they were declared. */
const descriptionsIn = (doc: HelpDoc.HelpDoc): ReadonlyArray<Described> => {
  switch (doc._tag) {
    case "Sequence":
      return [...descriptionsIn(doc.left), ...descriptionsIn(doc.right)]
    case "DescriptionList":
      // The first paragraph is about the type, the last ones about how often; what was written for people is between.
      return doc.definitions.map(([, block]) => {
        const texts = paragraphs(block).slice(1)
        return {
          description: texts.filter((text) => !/^This (option|argument|setting) /.test(text)).join(" "),
          anyNumber: texts.some((text) => text.endsWith(" may be repeated zero or more times."))
        }
      })
    default:
      return []
  }
}

interface Mark {
  readonly required: boolean
  readonly repeated: boolean
}

interface Used extends Mark {
  readonly usage: Usage.Named
}

const namesIn = (usage: Usage.Usage, mark: Mark): ReadonlyArray<Used> => {
  switch (usage._tag) {
    case "Named":
      return [{ usage, ...mark }]
    case "Optional":
      return namesIn(usage.usage, { ...mark, required: false })
    case "Repeated":
      return namesIn(usage.usage, { ...mark, repeated: true })
    case "Alternation":
      return [
        ...namesIn(usage.left, { ...mark, required: false }),
        ...namesIn(usage.right, { ...mark, required: false })
      ]
    case "Concat":
      return [...namesIn(usage.left, mark), ...namesIn(usage.right, mark)]
    default:
      return []
  }
}

const choicesOf = ({ acceptedValues }: Usage.Named): ReadonlyArray<string> => {
  const values = Option.getOrElse(acceptedValues, () => "")
  return values.includes("|") ? values.split("|").map((value) => value.trim()) : []
}

const isFlag = ({ usage }: Used): boolean => usage.names[0]?.startsWith("-") === true

const config = CliConfig.make({ showBuiltIns: false })

/** The section of a command's help under a heading. */
const section = (doc: HelpDoc.HelpDoc, heading: string): ReadonlyArray<Described> => {
  const blocks: Array<HelpDoc.HelpDoc> = []
  const flatten = (each: HelpDoc.HelpDoc): void => {
    if (each._tag !== "Sequence") return void blocks.push(each)
    flatten(each.left)
    flatten(each.right)
  }
  flatten(doc)
  const from = blocks.findIndex((block) => block._tag === "Header" && textOf(block.value) === heading)
  if (from === -1) return []
  const rest = blocks.slice(from + 1)
  const until = rest.findIndex((block) => block._tag === "Header")
  return rest.slice(0, until === -1 ? undefined : until).flatMap(descriptionsIn)
}

export const shapeOf = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>): Shape => {
  const help = CommandDescriptor.getHelp(command.descriptor, config)
  // The first name is the command's own.
  const used = namesIn(CommandDescriptor.getUsage(command.descriptor), { required: true, repeated: false }).slice(1)
  const flagTexts = section(help, "OPTIONS")
  const argTexts = section(help, "ARGUMENTS")
  return {
    flags: used.filter(isFlag).map(({ repeated, required, usage }, index) => {
      const names = usage.names.toSorted((a, b) => b.length - a.length)
      const { anyNumber, description } = flagTexts[index] ?? notDescribed
      return {
        name: names[0] ?? "",
        aliases: names.slice(1),
        value: Option.getOrNull(usage.acceptedValues),
        choices: choicesOf(usage),
        description,
        required: required && !anyNumber && Option.isSome(usage.acceptedValues),
        repeated
      }
    }),
    args: used
      .filter((each) => !isFlag(each))
      .map(({ repeated, required, usage }, index) => {
        const { anyNumber, description } = argTexts[index] ?? notDescribed
        return {
          name: (usage.names[0] ?? "").replaceAll(/[<>]/g, ""),
          choices: choicesOf(usage),
          description,
          required: required && !anyNumber,
          repeated
        }
      })
  }
}
