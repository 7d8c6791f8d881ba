# Does what Homebrew does with a formula, as far as ours asks for it: ruby formula.rb FORMULA PACKAGE CELLAR, where PACKAGE is the unpacked file.
# Prints what the formula says of itself as JSON, after its install and its test have run.
require "fileutils"
require "json"
require "pathname"
require "shellwords"

class Pathname
  alias_method :/, :+

  def write_env_script(target, environment)
    dirname.mkpath
    variables = environment.map { |name, value| "#{name}=\"#{value}\"" }.join(" ")
    write("#!/bin/bash\n#{variables} exec \"#{target}\" \"$@\"\n")
    chmod(0o555)
  end

  def install_symlink(*sources)
    mkpath
    sources.flatten.each { |source| FileUtils.ln_s(source, self) }
  end
end

class Formula
  Dependency = Struct.new(:opt_bin)

  class << self
    attr_reader :facts, :service_block, :test_block

    def inherited(other)
      super
      other.instance_variable_set(:@facts, {})
    end

    %w[desc homepage url sha256 license].each { |name| define_method(name) { |value| @facts[name] = value } }

    def depends_on(name)
      (@facts["depends_on"] ||= []) << name
    end

    def service(&block)
      @service_block = block
    end

    def test(&block)
      @test_block = block
    end

    # The Node.js of this machine stands for each dependency.
    def [](_name)
      Dependency.new(Pathname(`which node`.strip).dirname)
    end
  end

  def initialize(cellar)
    @cellar = Pathname(cellar)
  end

  def bin = @cellar / "bin"
  def opt_bin = bin
  def libexec = @cellar / "libexec"
  def man1 = @cellar / "share/man/man1"
  def var = @cellar / "var"
  def version = self.class.facts["url"][/-(\d+\.\d+\.\d+[^\/]*)\.tgz\z/, 1]

  def std_npm_args
    packed = `npm pack --ignore-scripts --silent`.lines.last.strip
    ["--global", "--ignore-scripts", "--prefix=#{libexec}", "#{Dir.pwd}/#{packed}"]
  end

  def system(*command)
    Kernel.system(*command.map(&:to_s), out: File::NULL) or raise "#{command.shelljoin} failed"
  end

  def shell_output(command)
    output = `#{command}`
    raise "#{command} failed" unless $?.success?
    output
  end

  def assert_match(part, text)
    raise "#{text.inspect} has no #{part.inspect}" unless text.include?(part)
  end

  def run(command) = @service["run"] = command.map(&:to_s)
  def keep_alive(value) = @service["keep_alive"] = value
  def environment_variables(values) = @service["environment"] = values.transform_values(&:to_s)
  def log_path(path) = @service["log"] = path.to_s
  def error_log_path(path) = @service["error_log"] = path.to_s

  def described
    @service = {}
    instance_eval(&self.class.service_block)
    self.class.facts.merge("service" => @service, "version" => version)
  end
end

formula_file, package, cellar = ARGV
load formula_file
formula = ObjectSpace.each_object(Class).find { |one| one < Formula }.new(cellar)
Dir.chdir(package) { formula.install }
formula.instance_eval(&formula.class.test_block)
puts JSON.generate(formula.described)
