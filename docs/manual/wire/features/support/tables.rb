# Cucumber 2.4.0, which Debian 12 has, cannot draw tables that differ with diff-lcs 1.4 or newer: it
# flattens a list of changes, and diff-lcs makes a list of each change too (cucumber-ruby, 1440).
require 'diff/lcs'
Diff::LCS::Change.send(:undef_method, :to_ary) if Diff::LCS::Change.method_defined?(:to_ary)
