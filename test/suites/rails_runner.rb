# A reporter for ActiveRecord's own tests that records the outcome of each.
#
# test/suites/rails_runner.rb

require "minitest"

class SuiteReporter < Minitest::AbstractReporter
  def initialize
    super
    @outcomes = File.open(ENV["SUITE_OUTCOMES"], "w")
    @outcomes.sync = true
  end

  def record(result)
    outcome = result.skipped? ? "skipped" : result.passed? ? "ok" : "failed"
    failure = result.failures.first
    failure = failure.error if failure.respond_to?(:error)
    text = outcome == "failed" ? "#{failure.class}: #{failure.message.scrub}".lines.first.strip : ""
    @outcomes.puts([outcome, "#{result.klass}##{result.name}", text.tr("\t", " ")].join("\t"))
  end
end

def Minitest.plugin_suite_init(_options)
  reporter << SuiteReporter.new
end

Minitest.extensions << "suite"

# A file that needs a gem which is not there is left out, in all ways alike.
def load_suite(files)
  files.each do |file|
    require File.expand_path(file)
  rescue LoadError => error
    warn "#{file}: #{error.message}"
  end
end
