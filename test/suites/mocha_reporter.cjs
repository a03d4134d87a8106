// A reporter of mocha that records the outcome of each test.
//
// test/suites/mocha_reporter.cjs

const fs = require("fs");

const line = (text) => String(text).split("\n")[0].replaceAll("\t", " ");

module.exports = function (runner) {
  const outcomes = fs.openSync(process.env.SUITE_OUTCOMES, "w");
  const recorded = new Set();
  const record = (outcome, test, error) => {
    recorded.add(test);
    fs.writeSync(outcomes, [outcome, test.fullTitle().replace(/\s+/g, " "), error].join("\t") + "\n");
  };

  runner.on("pass", (test) => record("ok", test, ""));
  runner.on("pending", (test) => record("skipped", test, ""));
  runner.on("fail", (test, error) => {
    const text = line(`${error.name}: ${error.message}`);
    console.log(`${test.fullTitle()}\n${error.stack}`);
    if (test.type !== "hook") return record("failed", test, text);
    // The tests of a hook that fails do not run.
    test.parent.eachTest((left) => recorded.has(left) || record("failed", left, text));
  });
};
